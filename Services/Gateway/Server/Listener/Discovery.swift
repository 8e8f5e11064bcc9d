internal import GatewayLogic
internal import Logging
internal import NIOHTTP1
internal import RedisStore
internal import ServiceKit
internal import SignalingWire

/// Answers `GET /getaddr?vid=APP` with some of the live gateways, of which it reads a sample from time to time.
///
/// Source: `Docs/protocol.md`, "Finding a gateway". The answer is always 200 with a non-empty list: the web clients hang
/// on anything else.
actor Discovery {
    /// Entries are repeated up to this count. The oldest web clients never wrap around at the end of the list, and
    /// advance by one entry whenever an abandoned socket closes during a login; past the end they stop working.
    private static let leastEntries = 16
    /// The largest number of gateways in one answer.
    private static let mostEntries = 16
    /// How long a sample is reused. All processes of the cluster ask the same server, so the time differs by up to a
    /// quarter from one read to the next: processes that started together do not ask together.
    private static let freshness = Duration.seconds(2)

    /// The address at which clients reach this process.
    private(set) var ownAddress: GatewayAddress
    private let sample: @Sendable () async throws -> [GatewayLease]
    private let logger: Logger
    private var known: GatewayDraw<GatewayAddress>
    private var freshUntil: ContinuousClock.Instant?

    /// - Parameter sample: reads what some of the live gateways tell of themselves.
    init(own: GatewayAddress, logger: Logger, sample: @escaping @Sendable () async throws -> [GatewayLease]) {
        ownAddress = own
        known = Self.only(own)
        self.logger = logger
        self.sample = sample
    }

    /// Sets this process's address, once the listener's port is known.
    func setOwnAddress(_ address: GatewayAddress) {
        ownAddress = address
        known = Self.only(address)
    }

    /// The response for one client; the gateways are drawn anew for each.
    func answer(at now: ContinuousClock.Instant = .now) async -> HTTPAnswer {
        await refresh(at: now)
        var generator = SystemRandomNumberGenerator()
        let chosen = known.draw(Self.mostEntries, using: &generator)
        var entries: [JSONValue] = []
        while entries.count < Self.leastEntries {
            entries += chosen.map { .array([.string($0.host), .number("\($0.port)")]) }
        }
        return .json(
            JSONValue.object([JSONMember("web", .array(entries))]).compactText,
            headers: ["Access-Control-Allow-Origin": "*", "Cache-Control": "no-store"])
    }

    private func refresh(at now: ContinuousClock.Instant) async {
        if let freshUntil, now < freshUntil { return }
        freshUntil = now + Self.freshness * Double.random(in: 0.75...1.25)
        do {
            let shards = try await sample().map { lease in
                (address: GatewayAddress(host: lease.host, port: lease.port), connections: lease.connections)
            }
            let found = GatewayDraw(shards)
            // No gateway at all means that Redis lost them; this one is known to be alive.
            known = found.isEmpty ? Self.only(ownAddress) : found
        } catch {
            // The last sample is used for longer.
            logger.warning("could not read the list of gateways", metadata: ["error": "\(error)"])
        }
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
