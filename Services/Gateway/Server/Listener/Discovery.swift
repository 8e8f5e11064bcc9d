internal import ClusterBus
internal import GatewayLogic
internal import Logging
internal import NIOHTTP1
internal import RedisClient
internal import ServiceKit
internal import SignalingProtocol
internal import SignalingWire

/// Answers `GET /getaddr?vid=APP` with some of the live gateways. It reads a sample of them from time to time. With
/// `&channel=NAME`, the gateways on which the channel's members meet come first, see ``MeetingPoints``.
///
/// A reading of Redis holds up no answer for longer than ``readPatience``, and none at all while what is
/// known is younger than ``ageBound``, or the last reading has failed: the answer is made from what is
/// known, and Redis is read meanwhile.
///
/// Source: `Docs/protocol.md`, "Finding a gateway". Without `channel` and `app` the answer is always 200 with a
/// non-empty list: the old web clients hang on anything else.
actor Discovery {
    /// Entries are repeated up to this count. The oldest web clients never wrap around at the end of the list, and
    /// advance by one entry whenever an abandoned socket closes during a login; past the end they stop working.
    private static let leastEntries = 16
    /// The largest number of gateways in one answer.
    private static let mostEntries = 16
    /// How long a sample is reused. All processes of the cluster ask the same server, so the time differs by up to a
    /// quarter from one read to the next: processes that started together do not ask together.
    private static let freshness = Duration.seconds(2)
    /// The age up to which a sample is used without a wait for a new one: between two requests may be hours.
    private static let ageBound = Duration.seconds(10)
    /// How long an answer waits for Redis at most; the first one, and those at the same time,
    /// wait for up to ``firstPatience``.
    private static let readPatience = Duration.milliseconds(300)
    private static let firstPatience = Duration.seconds(1)
    /// The largest number of readings for channels and apps at a time. Beyond it, answers are made from what is known.
    private static let lookBound = 256

    /// The address at which clients reach this process.
    private(set) var ownAddress: GatewayAddress
    private let directory: GatewayDirectory
    private let logger: Logger
    private var known: GatewayDraw<GatewayAddress>
    private var points = MeetingPoints<GatewayAddress>()
    private var freshUntil: ContinuousClock.Instant?
    /// When the sample was read; nil before the first was.
    private var sampledAt: ContinuousClock.Instant?
    /// Whether the last reading has failed, or the present one has made an answer wait in vain.
    private var isAway = false
    /// The reading of a sample that is under way.
    private var sampling: Task<Void, Never>?
    /// How many readings of the list or of a subject's leases are under way.
    private var looks = 0

    init(own: GatewayAddress, logger: Logger, directory: GatewayDirectory) {
        ownAddress = own
        known = Self.only(own)
        self.logger = logger
        self.directory = directory
    }

    /// Sets this process's address, once the listener's port is known.
    func setOwnAddress(_ address: GatewayAddress) {
        ownAddress = address
        known = Self.only(address)
    }

    /// The response for one client; the gateways are drawn anew for each.
    /// - Parameter target: of the request, with its query.
    func answer(to target: String, at now: ContinuousClock.Instant = .now) async -> HTTPAnswer {
        let query: DiscoveryQuery
        do throws(SignalingError) {
            query = try DiscoveryQuery(target: target)
        } catch {
            let body = JSONValue.object([JSONMember("error", error.message)])
            return .json(status: .badRequest, body.compactText, headers: Self.headers)
        }
        await refresh(at: now)
        var chosen: [GatewayAddress] = []
        if let subject = query.subject { chosen = await meetingPoints(of: subject, at: now) }
        var generator = SystemRandomNumberGenerator()
        for address in known.draw(Self.mostEntries, using: &generator)
        where chosen.count < Self.mostEntries && !chosen.contains(address) {
            chosen.append(address)
        }
        var entries: [JSONValue] = []
        while entries.count < Self.leastEntries {
            entries += chosen.map { .array([.string($0.host), .number("\($0.port)")]) }
        }
        return .json(
            JSONValue.object([JSONMember("web", .array(entries))]).compactText, headers: Self.headers)
    }

    private static let headers: HTTPHeaders = ["Access-Control-Allow-Origin": "*", "Cache-Control": "no-store"]

    /// Reads a new sample if the last one is no longer fresh, and waits for it if that is too old.
    private func refresh(at now: ContinuousClock.Instant) async {
        if sampling == nil, freshUntil.map({ now >= $0 }) ?? true {
            freshUntil = now + Self.freshness * Self.jitter
            sampling = Task {
                await readSample(at: now)
                sampling = nil
            }
        }
        if let sampling, !isAway, sampledAt.map({ now - $0 >= Self.ageBound }) ?? true { await wait(for: sampling) }
    }

    /// Waits for a reading as long as an answer may wait.
    private func wait(for reading: Task<Void, Never>) async {
        let patience = sampledAt == nil ? Self.firstPatience : Self.readPatience
        let answers = await answers(of: [reading], within: patience) { await $0.value }
        if answers[0] == nil { isAway = true }
    }

    private func readSample(at now: ContinuousClock.Instant) async {
        do {
            let sample = try await directory.sample()
            let shards = sample.map { (id: $0.id, shard: Self.shard($0.lease)) }
            let found = GatewayDraw(shards.map { (address: $0.shard.address, connections: $0.shard.connections) })
            // No gateway at all means that Redis lost them; this one is known to be alive.
            known = found.isEmpty ? Self.only(ownAddress) : found
            points.sample(shards, isComplete: sample.count < GatewayLeases.sampleSize, at: now)
            sampledAt = now
            isAway = false
        } catch {
            // The last sample is used for longer.
            isAway = true
            logger.warning("could not read the list of gateways", metadata: ["error": "\(error)"])
        }
    }

    /// The gateways on which clients that ask for a subject meet. While Redis does not answer, they are chosen by what
    /// was read before.
    private func meetingPoints(of subject: String, at now: ContinuousClock.Instant) async -> [GatewayAddress] {
        if looks < Self.lookBound {
            let isListed = !points.mustList(at: now, jitter: Self.jitter)
            let unread = isListed ? points.unread(for: subject, at: now) : []
            if !isListed || !unread.isEmpty {
                looks += 1
                let reading = Task {
                    await look(for: subject, unread, isListed: isListed, at: now)
                    looks -= 1
                }
                if !isAway { await wait(for: reading) }
            }
        }
        var generator = SystemRandomNumberGenerator()
        return points.choose(for: subject, using: &generator)
    }

    /// Reads the list of gateways unless it is known, and then what a subject's gateways tell.
    private func look(
        for subject: String, _ unread: [GatewayID], isListed: Bool, at now: ContinuousClock.Instant
    ) async {
        do {
            if !isListed { points.list(try await directory.list()) }
            let unread = isListed ? unread : points.unread(for: subject, at: now)
            guard !unread.isEmpty else { return }
            let leases = try await directory.leases(unread)
            points.read(unread, leases.mapValues(Self.shard), at: now)
        } catch {
            logger.warning("could not read gateways' leases", metadata: ["error": "\(error)"])
        }
    }

    /// By how much a time of reading differs from process to process.
    private static var jitter: Double { Double.random(in: 0.75...1.25) }

    private static func shard(_ lease: GatewayLease) -> MeetingPoints<GatewayAddress>.Shard {
        .init(address: GatewayAddress(host: lease.host, port: lease.port), connections: lease.connections)
    }

    private static func only(_ address: GatewayAddress) -> GatewayDraw<GatewayAddress> {
        GatewayDraw([(address: address, connections: 0)])
    }
}

extension GatewayConfiguration {
    /// The address that discovery gives to clients for this gateway.
    func publicAddress(listeningOn port: Int) -> GatewayAddress {
        GatewayAddress(host: publicHost ?? host, port: publicPort == 0 ? port : publicPort)
    }
}

/// The address at which clients reach a gateway.
struct GatewayAddress: Hashable, Sendable {
    /// An IPv4 address in dotted form.
    var host: String
    /// The port of plain WebSocket; TLS is on the next one.
    var port: Int
}
