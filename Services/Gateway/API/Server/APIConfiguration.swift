package import ServiceKit

/// The settings of the server API.
package struct APIConfiguration: Sendable, Equatable {
    /// The address to listen on.
    package var host: String
    /// The port.
    package var port: Int
    /// Connections at most; further ones are not accepted until one ends.
    package var connectionBound: Int
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
            servesPages: environment.bool(
                "GATEWAY_API_PAGES", default: false,
                "serve the console and the playground at the port of the server API (Docs/console.md)"))
        return port == 0 ? nil : configuration
    }
}
