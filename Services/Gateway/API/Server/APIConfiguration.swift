package import ServiceKit

/// The settings of the server API.
package struct APIConfiguration: Sendable, Equatable {
    /// The address to listen on.
    package var host: String
    /// The port.
    package var port: Int
    /// Connections at most; a further one gets the place of one that waits for a request, or is closed.
    package var connectionBound: Int
    /// Connections of one address at most; further ones are closed.
    package var addressConnectionBound: Int
    /// Whether the console and the playground are served.
    package var servesPages: Bool

    /// Reads the environment's variables `HELIOGRAPH_GATEWAY_API_...`.
    /// - Returns: nil when the API is off, because it has no port.
    package static func read(_ environment: inout EnvironmentReader) -> APIConfiguration? {
        let port = environment.int(
            "GATEWAY_API_PORT", default: 0, in: 0...65_535, "port of the server API (Docs/api.md); 0: it is off")
        let configuration = APIConfiguration(
            host: environment.string("GATEWAY_API_HOST", default: "127.0.0.1", "address of the server API"),
            port: port,
            connectionBound: environment.int(
                "GATEWAY_API_CONNECTIONS", default: 1000, in: 1...1_000_000, "connections to the server API at most"),
            addressConnectionBound: environment.int(
                "GATEWAY_API_ADDRESS_CONNECTIONS", default: 250, in: 1...1_000_000,
                "connections to the server API at most from one address, unless HELIOGRAPH_GATEWAY_ADDRESS_EXEMPT "
                    + "lists it"
            ),
            servesPages: environment.bool(
                "GATEWAY_API_PAGES", default: false,
                "serve the console and the playground at the port of the server API (Docs/console.md)"))
        return port == 0 ? nil : configuration
    }
}
