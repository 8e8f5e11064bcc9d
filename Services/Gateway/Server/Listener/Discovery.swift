internal import Logging
internal import NIOHTTP1
internal import ServiceKit
internal import SignalingWire

/// Answers `GET /getaddr?vid=APP` from the leases of the live gateways.
///
/// Source: `Docs/protocol.md`, "Finding a gateway". The answer is always 200 with a non-empty list: the web clients hang
/// on anything else.
actor Discovery {
    /// Entries are repeated up to this count. The oldest web clients never wrap around at the end of the list, and
    /// advance by one entry whenever an abandoned socket closes during a login; past the end they stop working.
    private static let leastEntries = 16
    /// The largest number of gateways in one answer.
    private static let mostEntries = 16
    /// How long a list is reused, so that many clients asking at once do not each cause a read of Redis.
    private static let freshness = Duration.milliseconds(250)

    /// The address at which clients reach this process.
    private(set) var ownAddress: GatewayAddress
    private let read: @Sendable () async throws -> [GatewayAddress]
    private let logger: Logger
    private var known: [GatewayAddress]
    private var readAt: ContinuousClock.Instant?

    /// - Parameter read: reads the addresses of the live gateways from their leases.
    init(own: GatewayAddress, logger: Logger, read: @escaping @Sendable () async throws -> [GatewayAddress]) {
        ownAddress = own
        known = [own]
        self.logger = logger
        self.read = read
    }

    /// Sets this process's address, once the listener's port is known.
    func setOwnAddress(_ address: GatewayAddress) {
        ownAddress = address
        known = [address]
    }

    /// The response for one client; the gateways are shuffled, to spread the clients over them.
    func answer() async -> HTTPAnswer {
        await refresh()
        let chosen = known.shuffled().prefix(Self.mostEntries)
        var entries: [JSONValue] = []
        while entries.count < Self.leastEntries {
            entries += chosen.map { .array([.string($0.host), .number("\($0.port)")]) }
        }
        return .json(
            JSONValue.object([JSONMember("web", .array(entries))]).compactText,
            headers: ["Access-Control-Allow-Origin": "*", "Cache-Control": "no-store"])
    }

    private func refresh() async {
        let now = ContinuousClock.now
        if let readAt, now - readAt < Self.freshness { return }
        readAt = now
        do {
            let addresses = Array(Set(try await read()))
            // No leases at all means that Redis lost them; this gateway is known to be alive.
            known = addresses.isEmpty ? [ownAddress] : addresses
        } catch {
            logger.warning("could not read the list of gateways", metadata: ["error": "\(error)"])
        }
    }
}

extension GatewayConfiguration {
    /// The address that discovery gives to clients for this gateway.
    func publicAddress(listeningOn port: Int) -> GatewayAddress {
        GatewayAddress(host: publicHost ?? host, port: publicPort == 0 ? port : publicPort)
    }
}
