package import ClusterBus
package import ClusterState
package import RedisClient
package import SignalingProtocol

// Tests on a single Redis, whose bus has one partition, need not name it. Services must.

extension KeySpace {
    /// Stream: commands to a service, on a single Redis.
    package static func commands(_ service: ServiceName) -> String { commands(service, in: .whole) }

    /// Stream: commands to a service without a reply, on a single Redis.
    package static func posts(_ service: ServiceName) -> String { posts(service, in: .whole) }

    /// Stream: entries that a service could not handle, on a single Redis.
    package static func setAside(_ service: ServiceName) -> String { setAside(service, in: .whole) }

    /// Sorted set: a service's timers, on a single Redis.
    package static func due(_ service: ServiceName) -> String { due(service, in: .whole) }

    /// Stream: what a service copies into PostgreSQL, on a single Redis.
    package static func mirror(_ service: ServiceName) -> String { mirror(.changes(service), in: .whole) }
}

extension DueTimers {
    /// The timers of a service on a single Redis.
    package init(service: ServiceName, connection: RedisClient) {
        self.init(service: service, connection: connection, partition: .whole)
    }
}
