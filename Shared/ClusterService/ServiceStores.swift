package import ClusterState
package import Logging
internal import NIOPosix
package import PostgresStore
package import RedisClient
package import ServiceKit
import ServiceLifecycle

/// A service's connections to Redis and PostgreSQL: opened first, closed last, checked by `/readyz`.
package struct ServiceStores: Service {
    /// The connection for commands and functions.
    package let redis: RedisClient
    /// The settings for further Redis connections of the process.
    package let redisConfiguration: RedisConfiguration
    /// The connections to PostgreSQL.
    package let pool: PostgresPool
    /// Whether the database is known to be one that this build works with.
    private let isSchemaChecked: Bool
    private let logger: Logger

    /// Uses the given stores, for a test.
    /// - Parameter libraries: the Redis Functions that the service calls.
    package init(
        redis configuration: RedisConfiguration, libraries: [RedisFunctionLibrary], pool: PostgresPool, logger: Logger
    ) {
        self.init(
            redis: configuration, libraries: libraries, pool: pool, isSchemaChecked: true, logger: logger)
    }

    private init(
        redis configuration: RedisConfiguration, libraries: [RedisFunctionLibrary], pool: PostgresPool,
        isSchemaChecked: Bool, logger: Logger
    ) {
        redis = RedisClient(
            configuration: configuration, eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            libraries: libraries, logger: logger)
        redisConfiguration = configuration
        self.pool = pool
        self.isSchemaChecked = isSchemaChecked
        self.logger = logger
    }

    /// Creates the stores that the process's settings describe, and checks the database's migrations.
    /// - Throws: `RedisError` or `PostgresError` when a setting is invalid, or when this build does not work with the
    ///   database. A database that does not answer is not an error: it is checked as soon as it answers.
    package init(
        _ context: ServiceContext, libraries: [RedisFunctionLibrary], postgresConnections: Int
    ) async throws {
        let postgres = try PostgresConfiguration(url: context.configuration.postgresURL)
        let pool = PostgresPool(
            configuration: postgres, connections: postgresConnections, logger: context.logger)
        var redis = try RedisConfiguration(url: context.configuration.redisURL)
        redis.replicas = context.configuration.redisReplicas
        self.init(
            redis: redis, libraries: libraries, pool: pool,
            isSchemaChecked: try await Self.checkSchema(of: pool, logger: context.logger), logger: context.logger)
    }

    /// - Returns: false when the database does not answer.
    /// - Throws: `PostgresError` when this build does not work with the database.
    private static func checkSchema(of pool: PostgresPool, logger: Logger) async throws(PostgresError) -> Bool {
        do throws(PostgresError) {
            let ahead = try await Migrations(pool: pool, level: ClusterLevel.current).check()
            if !ahead.isEmpty {
                logger.notice("the database has migrations of a newer release", metadata: ["names": "\(ahead)"])
            }
            return true
        } catch {
            guard !error.isRefusal else { throw error }
            logger.warning("PostgreSQL does not answer yet", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// Checks whether each store answers.
    package var checks: [ReadinessCheck] {
        [
            .withRemarks(name: "redis") { [redis] in
                let state = await redis.checkReadiness()
                return state.isReady ? .works(remark: state.problem) : .fails(state.problem ?? "not connected")
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

    /// Updates the metrics of the stores.
    func observe() async {
        pool.observe()
        RedisMetrics.shared.show(await redis.links())
        RedisMemoryMetrics.shared.show(await redis.memory())
    }

    /// Closes the stores at the graceful shutdown. The connection to Redis is started by whoever runs this: before, the
    /// process must have been let into the cluster.
    /// - Throws: `PostgresError` when a database that did not answer at the start turns out to be one that
    ///   this build does not work with.
    package func run() async throws {
        var refusal: PostgresError?
        do {
            try await cancelWhenGracefulShutdown {
                var isChecked = isSchemaChecked
                while !isChecked {
                    try await Task.sleep(for: .seconds(1))
                    isChecked = try await Self.checkSchema(of: pool, logger: logger)
                }
            }
            try await gracefulShutdown()
        } catch {
            // Shutdown and cancellation throw too; the stores are closed in any case.
            refusal = error as? PostgresError
        }
        await close()
        if let refusal { throw refusal }
    }

    /// Closes the stores.
    func close() async {
        await redis.close()
        await pool.close()
    }
}
