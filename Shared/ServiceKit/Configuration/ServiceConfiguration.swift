package import Logging
internal import SignalingProtocol

/// The settings that all services share.
package struct ServiceConfiguration: Sendable {
    /// The service's name, such as `presence`.
    package var service: String
    /// The name of this process among the service's instances: names its stream consumer and appears in logs and `/healthz`.
    package var instance: String
    /// Redis' URL: `redis://` or `rediss://`.
    package var redisURL: String
    /// PostgreSQL's URL.
    package var postgresURL: String
    /// The lowest level that is logged.
    package var logLevel: Logger.Level
    /// The format of log lines.
    package var logFormat: LogFormat
    /// The address to which the health and metrics listener binds.
    package var httpHost: String
    /// The listener's port; 0 for any free port.
    package var httpPort: Int

    /// Reads the settings of `service` from the environment.
    package init(service: String, reading reader: inout EnvironmentReader) {
        self.service = service
        instance = reader.string(
            "INSTANCE", default: "\(service)-\(SecureRandom.hex(bytes: 4))", "this process among its kind")
        redisURL = reader.string("REDIS_URL", default: "redis://127.0.0.1:6379", "where Redis is")
        postgresURL = reader.string(
            "POSTGRES_URL", default: "postgresql://heliograph@127.0.0.1:5432/heliograph", "where PostgreSQL is")
        logLevel = reader.choice("LOG_LEVEL", default: .info, "least severe level that is logged")
        logFormat = reader.choice("LOG_FORMAT", default: .text, "how log lines look")
        httpHost = reader.string("HTTP_HOST", default: "127.0.0.1", "address of the health and metrics listener")
        httpPort = reader.int("HTTP_PORT", default: 0, in: 0...65_535, "port of that listener, 0 for any")
        if !Self.isInstanceName(instance) {
            reader.reject("INSTANCE", "must be 1 to 64 visible ASCII characters without spaces")
        }
        if !redisURL.hasPrefix("redis://") && !redisURL.hasPrefix("rediss://") {
            reader.reject("REDIS_URL", "must begin with redis:// or rediss://")
        }
        if !postgresURL.hasPrefix("postgresql://") && !postgresURL.hasPrefix("postgres://") {
            reader.reject("POSTGRES_URL", "must begin with postgresql:// or postgres://")
        }
    }

    private static func isInstanceName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }
}
