import BusProtocol
import ClusterBus
import ClusterState
import Logging
import MessageStore
import PostgresStore
import RedisClient
import ServiceLifecycle
import SignalingProtocol
import Synchronization
import TestKit
import Testing

/// Plays a sip-bridge over the real command streams: keeps its lease, records requests to dial and orders, and
/// reports what the test tells it to.
final class StageBridge: Sendable {
    private struct Notes {
        var dialled: [DialPhone] = []
        var orders: [OrderPhone] = []
    }

    /// The telephone that calls, and is called, where a test names no other.
    static let telephone = "+49301234"

    let id: BridgeID
    private let stage: InvitationStage
    private let leases: BridgeLeases
    private let notes: NotesBox
    private let running: Mutex<[Task<Void, any Error>]>

    private final class NotesBox: Sendable {
        let notes = Mutex(Notes())
    }

    /// Starts a bridge.
    /// - Parameter takesCalls: whether it takes requests to dial; otherwise it reads only its own stream.
    init(on stage: InvitationStage, takesCalls: Bool = true) async throws {
        let id = BridgeID("bridge-\(SecureRandom.hex(bytes: 4))")
        let notes = NotesBox()
        self.id = id
        self.stage = stage
        self.notes = notes
        leases = BridgeLeases(connection: stage.connection)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var orders = CommandRouter()
        orders.on(OrderPhone.self) { command, _ throws(SignalingError) in
            notes.notes.withLock { $0.orders.append(command) }
            return Done()
        }
        var calls = CommandRouter()
        calls.on(DialPhone.self) { command, _ throws(SignalingError) in
            notes.notes.withLock { $0.dialled.append(command) }
            return Done()
        }
        let own = CommandConsumer(
            bridge: id, connection: stage.connection, router: orders, logger: logger)
        let shared = CommandConsumer(
            service: .sipBridge, instance: id.rawValue, connection: stage.connection, router: calls, logger: logger)
        try await own.createStream()
        _ = try await leases.heartbeat(id)
        let leases = self.leases
        var tasks = [Task<Void, any Error> { try await own.run() }]
        if takesCalls { tasks.append(Task { try await shared.run() }) }
        tasks.append(
            Task {
                while !Task.isCancelled {
                    try await letPass(BridgeID.fleet.interval, "a bridge renews its lease so often")
                    _ = try await leases.heartbeat(id)
                }
            })
        running = Mutex(tasks)
    }

    /// Ends at once, as by a crash: the lease is not given back.
    func kill() async {
        let tasks = running.withLock { tasks in
            defer { tasks = [] }
            return tasks
        }
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
    }

    func leave() async throws { try await leases.leave(id) }

    // MARK: What it received

    /// Waits for the `count`th request to dial.
    func dialled(_ count: Int = 1) async throws -> DialPhone {
        try await waitUntil("dialling") {
            let found = self.notes.notes.withLock { $0.dialled.count }
            return found >= count ? nil : "\(found) requests"
        }
        return notes.notes.withLock { $0.dialled[count - 1] }
    }

    var dialCount: Int { notes.notes.withLock { $0.dialled.count } }

    /// Waits until the received orders are exactly these, each as `ACT EXTRA`.
    func expectOrders(_ lines: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        do {
            try await waitUntil("orders") {
                let found = self.notes.notes.withLock { $0.orders.map { "\($0.act.rawValue) \($0.extra)" } }
                return found == lines ? nil : "\(found)"
            }
        } catch {
            Issue.record(error, sourceLocation: sourceLocation)
            throw error
        }
    }

    /// Has a user invite a telephone, and takes the call. The app must have a trunk.
    func claimCall(of caller: BusProtocol.Actor) async throws -> PhoneCall {
        try await stage.act(.invite, by: caller, to: Self.telephone)
        let call = try await dialled().call
        try #require(try await report(.claimed, in: call))
        return call
    }

    // MARK: What it reports

    /// - Returns: whether the call still exists, and is with this bridge.
    func report(
        _ act: PhoneAct, in call: PhoneCall, _ extra: String = "{}", record: PhoneRecord = PhoneRecord()
    ) async throws -> Bool {
        try await stage.send(PhoneReport(call: call, bridge: id, act: act, extra: extra, record: record)).continues
    }

    /// Reports an incoming call from a telephone.
    func invite(
        _ account: String, from phone: String = telephone, call: String, extra: String = "{}", ring: Int64? = nil
    ) async throws -> (PhoneCall, continues: Bool) {
        let call = PhoneCall(
            id: call, channel: ChannelKey(app: stage.app, name: try ChannelName("sip-\(call)")),
            user: try Account(account), phone: try Account(phone))
        let reply = try await stage.send(
            InviteFromPhone(
                call: call, bridge: id, extra: extra, ring: ring, record: PhoneRecord(sipCallID: "id@\(call.id)")))
        return (call, reply.continues)
    }
}

extension InvitationStage {
    /// Runs a test with a new stage and a bridge, which is killed at the end.
    static func runWithBridge(
        instances: Int = 1, _ test: (InvitationStage, StageBridge) async throws -> Void
    ) async throws {
        try await run(instances: instances) { stage in
            let bridge = try await StageBridge(on: stage)
            do {
                try await test(stage, bridge)
            } catch {
                await bridge.kill()
                throw error
            }
            await bridge.kill()
        }
    }

    /// Gives the app a trunk.
    nonisolated func setTrunk(ringTime: Duration = .seconds(60), policy: PhonePolicy = PhonePolicy()) async throws {
        if try await AppStore(pool: pool).find(app) == nil {
            try await AppStore(pool: pool).create(id: app, certificate: "c", tokenRequired: false)
        }
        var trunk = SIPTrunk(app: app, host: "127.0.0.1")
        trunk.ringTime = ringTime
        trunk.policy = policy
        try await TrunkStore(pool: pool).set(trunk)
    }

    /// Waits until the call log's rows are these: `direction number code status reason Call-ID`.
    nonisolated func expectPhoneLog(_ rows: [String]) async throws {
        try await waitUntil("the call log of telephones") {
            let found = try await self.pool.query(
                """
                SELECT concat_ws(' ', direction, number, coalesce(end_code::text, 'live'), sip_status, sip_reason,
                    sip_call_id) AS line
                FROM call_log ORDER BY started_at
                """)
            let lines = try found.map { try $0.string("line") }
            return lines == rows ? nil : "\(lines)"
        }
    }
}
