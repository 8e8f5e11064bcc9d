internal import Logging
internal import NIOHTTP1
internal import ServiceKit
internal import SignalingWire

/// Answers `GET /getaddr?vid=APP` from the leases of the live gateways.
///
/// Source: wire protocol, sections 1 and 12.17. Always 200 and never empty: the web clients hang on anything else.
actor Discovery {
    /// The oldest clients step through the list without wrapping around, and take a further entry each time that an
    /// abandoned socket closes while a login is under way; past the end they die.
    private static let leastEntries = 16
    /// Gateways told to one client at most.
    private static let mostEntries = 16
    /// How long a list serves, so that a storm of clients does not become one of reads.
    private static let freshness = Duration.milliseconds(250)

    /// Where this process is reached.
    private(set) var ownAddress: GatewayAddress
    private let read: @Sendable () async throws -> [GatewayAddress]
    private let logger: Logger
    private var known: [GatewayAddress]
    private var readAt: ContinuousClock.Instant?

    /// - Parameter read: reads the live gateways' addresses.
    init(own: GatewayAddress, logger: Logger, read: @escaping @Sendable () async throws -> [GatewayAddress]) {
        ownAddress = own
        known = [own]
        self.logger = logger
        self.read = read
    }

    /// Takes the address once the port is known.
    func setOwnAddress(_ address: GatewayAddress) {
        ownAddress = address
        known = [address]
    }

    /// The answer for one client, its order shuffled to spread the clients.
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
            // Redis may have forgotten everybody: this gateway is there.
            known = addresses.isEmpty ? [ownAddress] : addresses
        } catch {
            logger.warning("the list of gateways could not be read", metadata: ["error": "\(error)"])
        }
    }
}

extension GatewayConfiguration {
    /// What discovery tells clients.
    func publicAddress(listeningOn port: Int) -> GatewayAddress {
        GatewayAddress(host: publicHost ?? host, port: publicPort == 0 ? port : publicPort)
    }
}
