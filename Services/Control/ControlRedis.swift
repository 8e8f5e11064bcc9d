internal import ClusterState
internal import Logging
internal import NIOPosix
internal import RedisStore
internal import ServiceKit

/// A command's connection to Redis.
enum ControlRedis {
    static let standardURL = "redis://127.0.0.1:6379"

    /// Calls `body` with a connection, and closes it afterwards.
    /// - Parameter libraries: those whose functions `body` calls; default none.
    /// - Throws: `RedisError` when the URL cannot be used; what `body` throws.
    static func withConnection<Value: Sendable>(
        libraries: [RedisFunctionLibrary] = [], _ body: (RedisConnection) async throws -> Value
    ) async throws -> Value {
        // The environment may contain settings of the services, so unknown names are not an error here.
        var reader = EnvironmentReader.process()
        let url = reader.string("REDIS_URL", default: standardURL, "where Redis is")
        let connection = RedisConnection(
            configuration: try RedisConfiguration(url: url), eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            libraries: libraries, keepsClock: false,
            logger: Logger(label: "heliographctl") { _ in SwiftLogNoOpLogHandler() })
        connection.start()
        do {
            let value = try await body(connection)
            await connection.close()
            return value
        } catch {
            await connection.close()
            throw error
        }
    }
}
