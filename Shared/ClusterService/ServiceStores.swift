package import ClusterState
package import Logging
internal import NIOPosix
package import PostgresStore
package import RedisStore
package import ServiceKit
import ServiceLifecycle

/// A service's two stores: opened first, closed last, and asked by `/readyz`.
package struct ServiceStores: Service {
    /// The connection for commands and functions.
    package let redis: RedisConnection
    /// What further connections of the service are made with.
    package let redisConfiguration: RedisConfiguration
    /// The connections to PostgreSQL.
    package let pool: PostgresPool

    /// Joins given stores, for one process or a test.
    /// - Parameter libraries: the functions that the service calls.
    package init(
        redis configuration: RedisConfiguration, libraries: [RedisFunctionLibrary], pool: PostgresPool, logger: Logger
    ) {
        redis = RedisConnection(
            configuration: configuration, eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            libraries: libraries, logger: logger)
        redisConfiguration = configuration
        self.pool = pool
    }

    /// Makes the stores that a process's settings describe, and looks at the database.
    /// - Throws: `RedisError` or `PostgresError` for settings that cannot be used, and for a database whose migrations
    ///   are not this build's. A database that is away stops nothing.
    package init(
        _ context: ServiceContext, libraries: [RedisFunctionLibrary], postgresConnections: Int
    ) async throws {
        let postgres = try PostgresConfiguration(url: context.configuration.postgresURL)
        self.init(
            redis: try RedisConfiguration(url: context.configuration.redisURL), libraries: libraries,
            pool: PostgresPool(
                configuration: postgres, connections: postgresConnections, logger: context.logger),
            logger: context.logger)
        do throws(PostgresError) {
            try await Migrations(pool: pool).check()
        } catch {
            guard error.kind != .migration else { throw error }
            context.logger.warning("started without PostgreSQL", metadata: ["error": "\(error)"])
        }
    }

    /// Whether each store answers.
    package var checks: [ReadinessCheck] {
        [
            ReadinessCheck(name: "redis") { [redis] in
                do throws(RedisError) {
                    _ = try await redis.execute(RedisCommand("PING"))
                    return nil
                } catch {
                    return error.description
                }
            },
            ReadinessCheck(name: "postgres") { [pool] in
                do throws(PostgresError) {
                    try await pool.ping()
                    return nil
                } catch {
                    return error.description
                }
            },
        ]
    }

    /// Opens the stores, and closes them at the graceful shutdown.
    package func run() async throws {
        redis.start()
        // Ends by an error when cancelled instead; the stores are to be closed all the same.
        try? await gracefulShutdown()
        await redis.close()
        await pool.close()
    }
}
