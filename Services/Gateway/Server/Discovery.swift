internal import Logging
internal import MessageStore
internal import RedisStore
internal import ServiceKit
internal import SignalingProtocol

/// Answers `GET /getaddr?vid=APP` from the leases of the live gateways.
///
/// Source: wire protocol, sections 1 and 12.17. Always 200 and never empty: the web clients hang on anything else.
actor Discovery {
    /// The oldest clients step through the list without wrapping around.
    private static let leastEntries = 4
    /// Gateways told to one client at most.
    private static let mostEntries = 16

    /// Where this process is reached.
    private(set) var ownAddress: GatewayAddress
    private var known: [GatewayAddress]

    init(own: GatewayAddress) {
        ownAddress = own
        known = [own]
    }

    /// Takes the address once the port is known.
    func setOwnAddress(_ address: GatewayAddress) {
        ownAddress = address
        known = [address]
    }

    /// Takes the present list; an empty one (Redis forgot) leaves this gateway itself.
    func update(_ addresses: [GatewayAddress]) {
        known = addresses.isEmpty ? [ownAddress] : addresses
    }

    /// The answer for one client, its order shuffled to spread the clients.
    func answer() -> HTTPAnswer {
        let chosen = known.shuffled().prefix(Self.mostEntries)
        var entries: [String] = []
        while entries.count < Self.leastEntries {
            entries += chosen.map { "[\"\($0.host)\",\($0.port)]" }
        }
        return .json(
            "{\"web\":[\(entries.joined(separator: ","))]}",
            headers: [.init("Access-Control-Allow-Origin", "*"), .init("Cache-Control", "no-store")])
    }
}

extension GatewayConfiguration {
    /// What discovery tells clients.
    func publicAddress(listeningOn port: Int) -> GatewayAddress {
        GatewayAddress(host: publicHost ?? host, port: publicPort == 0 ? port : publicPort)
    }
}
