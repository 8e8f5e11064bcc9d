package import ClusterState
package import Logging
internal import NIOPosix
package import PostgresStore
package import RedisStore
package import ServiceKit
import ServiceLifecycle

/// A service's connections to Redis and PostgreSQL: opened first, closed last, checked by `/readyz`.
package struct ServiceStores: Service {
    /// The connection for commands and functions.
    package let redis: RedisConnection
    /// The settings for further Redis connections of the service.
    package let redisConfiguration: RedisConfiguration
    /// The connections to PostgreSQL.
    package let pool: PostgresPool

    /// Uses the given stores, for a test.
    /// - Parameter libraries: the Redis Functions that the service calls.
    package init(
        redis configuration: RedisConfiguration, libraries: [RedisFunctionLibrary], pool: PostgresPool, logger: Logger
    ) {
        redis = RedisConnection(
            configuration: configuration, eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            libraries: libraries, logger: logger)
        redisConfiguration = configuration
        self.pool = pool
    }

    /// Creates the stores that the process's settings describe, and checks the database's migrations.
    /// - Throws: `RedisError` or `PostgresError` when a setting is invalid, or when the database's migrations are not
    ///   this build's. A database that does not answer is not an error.
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

    /// Checks whether each store answers.
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
        // Throws when the task is cancelled instead; the stores must be closed all the same.
        try? await gracefulShutdown()
        await redis.close()
        await pool.close()
    }
}
