package import Logging
internal import SignalingProtocol

/// The settings that all services share.
package struct ServiceConfiguration: Sendable {
    /// The service's name, such as `presence`.
    package var service: String
    /// The name of this process among the service's instances: names its stream consumer and
    /// appears in logs and `/healthz`.
    package var instance: String
    /// Redis' URL, such as `redis://`, with its password: never logged.
    package var redisURL: String
    /// How many of Redis' replicas must have a message to a user, a change of a call or the end of a session before it
    /// is acknowledged: 0 for none, at most 16.
    package var redisReplicas: Int
    /// PostgreSQL's URL, with its password: never logged.
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
        redisURL = StoreURL.redis(reading: &reader)
        let durability = Self.replicas(
            reader.string(
                "REDIS_DURABILITY", default: "none",
                "what is waited for before messages are acknowledged: none, replica or replica:N"))
        redisReplicas = durability ?? 0
        postgresURL = StoreURL.postgres(reading: &reader)
        logLevel = reader.choice("LOG_LEVEL", default: .info, "least severe level that is logged")
        logFormat = reader.choice("LOG_FORMAT", default: .text, "how log lines look")
        httpHost = reader.string("HTTP_HOST", default: "127.0.0.1", "address of the health and metrics listener")
        httpPort = reader.int("HTTP_PORT", default: 0, in: 0...65_535, "port of that listener, 0 for any")
        if !Self.isInstanceName(instance) {
            reader.reject("INSTANCE", "must be 1 to 64 visible ASCII characters without spaces")
        }
        if redisURL.prefixMatch(of: /rediss?(\+(cluster|sentinel))?:\/\//) == nil {
            reader.reject(
                "REDIS_URL", "must begin with redis://, redis+sentinel:// or redis+cluster://, or the same with rediss")
        }
        if durability == nil {
            reader.reject("REDIS_DURABILITY", "must be none, replica or replica:N, with N from 1 to 16")
        }
        if !postgresURL.hasPrefix("postgresql://") && !postgresURL.hasPrefix("postgres://") {
            reader.reject("POSTGRES_URL", "must begin with postgresql:// or postgres://")
        }
    }

    /// - Returns: nil when it is no value of `REDIS_DURABILITY`.
    private static func replicas(_ durability: String) -> Int? {
        switch durability {
        case "none": 0
        case "replica": 1
        default: durability.wholeMatch(of: /replica:([1-9]|1[0-6])/).flatMap { Int($0.1) }
        }
    }

    private static func isInstanceName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }
}
