internal import ArgumentParser
internal import ClusterBus
internal import ClusterState
internal import PostgresStore
internal import RedisClient
internal import ServiceKit
internal import SignalingClient
internal import SignalingProtocol
internal import SignalingTokens

/// How a command logs in as a client of an app.
struct ClientAccess: Sendable {
    /// How long a command's token is valid; a client that comes back after an outage needs it again.
    private static let tokenSeconds: Int64 = 30 * 86_400

    let app: AppID
    /// Nil when the app needs no tokens.
    let certificate: String?
    let gateways: [GatewayEndpoint]

    /// The settings of a client.
    func configuration(_ account: Account) -> ClientConfiguration {
        let token = certificate.map {
            SignalingToken.make(
                account: account.rawValue, app: app, certificate: $0, expiry: WallClock.seconds + Self.tokenSeconds)
        }
        var configuration = ClientConfiguration(
            app: app.rawValue, account: account.rawValue, token: token ?? SignalingToken.none,
            source: .addresses(gateways))
        configuration.device = "heliographctl"
        return configuration
    }

    /// The gateways that run, as they have told Redis.
    /// - Throws: ``Failure`` when there is none.
    static func runningGateways() async throws -> [GatewayEndpoint] {
        let leases = try await ControlRedis.withConnection(libraries: []) { connection in
            let leases = GatewayLeases(connection: connection)
            let gateways = try await leases.list()
            return gateways.isEmpty ? [] : Array(try await leases.leases(of: gateways).values)
        }
        guard !leases.isEmpty else {
            throw Failure(message: "no gateway runs: start one, or name one with --gateway", code: 69)
        }
        return Set(leases.map { GatewayEndpoint(host: $0.host, port: $0.port) })
            .sorted { ($0.host, $0.port) < ($1.host, $1.port) }
    }
}

/// Where a command's clients connect.
struct GatewayOptions: ParsableArguments {
    @Option(
        name: .customLong("gateway"),
        help: "HOST:PORT of a gateway's WebSocket, or wss://HOST:PORT; may be repeated. By default those that run.")
    var addresses: [GatewayArgument] = []

    func endpoints() async throws -> [GatewayEndpoint] {
        addresses.isEmpty ? try await ClientAccess.runningGateways() : addresses.map(\.endpoint)
    }
}

/// The address of a gateway on the command line.
struct GatewayArgument: ExpressibleByArgument {
    let endpoint: GatewayEndpoint

    init?(argument: String) {
        let isSecure = argument.hasPrefix("wss://")
        let place =
            isSecure ? argument.dropFirst(6) : argument.hasPrefix("ws://") ? argument.dropFirst(5) : argument[...]
        guard let address = SIPAddressArgument(argument: String(place)), let port = address.port else { return nil }
        endpoint = GatewayEndpoint(host: address.host, port: port, secure: isSecure)
    }
}
