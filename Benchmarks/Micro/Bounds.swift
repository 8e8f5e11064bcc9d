import GatewayAPILogic
import GatewayLogic
import NIOCore
import Pacing
import RedisClient
import SignalingProtocol

extension Benchmark {
    /// What a gateway computes for the bounds of a message, each by itself; `Benchmarks/run bounds` measures what Redis
    /// does for others.
    static func bounds() -> [Benchmark] {
        let connection = BoundConnection(), process = BoundProcess()
        return [
            Benchmark("bound.frame") { connection.takeFrame() },
            Benchmark("bound.refused-frame") { connection.refuseFrame() },
            Benchmark("bound.sender-trust") { process.trustSender() },
            Benchmark("bound.deadline") { process.appendDeadline() },
            Benchmark("bound.hook-share") { process.askHook() },
            Benchmark("bound.api-request") { process.takeRequest() },
        ]
    }
}

/// A client's connection that sends a frame each millisecond.
private final class BoundConnection {
    private var pace = FramePace()
    private var now: Int64 = 0

    init() { pace.raise() }

    func takeFrame() { pace.chargeSize(bytes: 350, now: next()) }

    func refuseFrame() {
        // As seldom as the pace allows.
        now += 9_000_000
        pace.charge(bytes: 350, now: next())
    }

    private func next() -> LocalTime {
        now += 1_000_000
        return LocalTime(nanoseconds: now)
    }
}

/// A gateway process of a cluster of three masters.
private final class BoundProcess {
    private static let started = LocalTime(milliseconds: 1)

    private var trust = SenderTrust(leases: 3, leaseTime: LocalTime.Span(.seconds(10)), partitions: 8, isNeeded: true)
    private let clock = RedisClock()
    private var shares = HookShares(of: 1000)
    private let address = ClientAddress(bytes: [192, 0, 2, 1])
    private var places = ConnectionPlaces(bound: 1000, addressBound: 250)
    private var rate = RequestRate(limit: 1_000_000)
    private var connections: [ConnectionPlaces.ID] = []
    private var requests = 0

    init() {
        for lease in 0..<3 {
            _ = trust.leaseRenewed(lease, askedAt: Self.started, wasHeld: false, now: Self.started)
        }
        clock.set(.array([.integer(1_700_000_000), .integer(0)]))
        for _ in 0..<200 {
            if case .admitted(let id) = places.opened(from: nil) { connections.append(id) }
        }
    }

    func trustSender() { use(trust.maySend(at: { LocalTime(milliseconds: 2) }, from: { 3 })) }

    /// For all messages of one call of Redis, as `MailboxBatch` does.
    func appendDeadline() {
        let end = NIODeadline.now() + .seconds(5)
        guard let now = clock.now else { return }
        use(now.milliseconds + (end - .now()).nanoseconds / 1_000_000)
    }

    func askHook() {
        if shares.hasRoom(for: address) { shares.asked(address) }
        shares.answered(address)
    }

    /// The place of its connection, and its key's rate before and after the work.
    func takeRequest() {
        requests += 1
        let id = connections[requests % connections.count], now = LocalTime(milliseconds: Int64(requests))
        places.began(id)
        if rate.take(now: now) { rate.charge(1) }
        use(rate.state(now: now))
        places.waits(id, isProven: true)
    }
}
