internal import ClusterState
internal import ControlInspection
internal import Logging
internal import NIOPosix
internal import RedisClient
internal import ServiceKit

/// A command's connection to Redis: to a single server, to the master that Sentinels name, or to a cluster.
enum ControlRedis {
    static let standardURL = StoreURL.standardRedis

    /// Calls `body` with a connection, and closes it afterwards.
    /// - Parameter libraries: those whose functions `body` calls; default none.
    /// - Throws: `RedisError` when the URL cannot be used, or Redis is not run as the URL says; what `body` throws.
    static func withConnection<Value: Sendable>(
        libraries: [RedisFunctionLibrary] = [], _ body: (RedisClient) async throws -> Value
    ) async throws -> Value {
        let connection = RedisClient(
            configuration: try configuration(), eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            libraries: libraries, keepsClock: false,
            logger: Logger(label: "heliographctl") { _ in SwiftLogNoOpLogHandler() })
        try await connection.verify()
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

    /// Asks Redis how it is doing.
    /// - Throws: `RedisError` when the URL cannot be used.
    static func inspector() throws(RedisError) -> RedisInspector {
        RedisInspector(
            configuration: try configuration(), eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            now: { WallClock.milliseconds })
    }

    /// Whether connections to Redis use TLS.
    /// - Throws: `RedisError` when the URL cannot be used.
    static func usesTLS() throws(RedisError) -> Bool { try configuration().usesTLS }

    private static func configuration() throws(RedisError) -> RedisConfiguration {
        // The environment may contain settings of the services, so unknown names are not an error here.
        var reader = EnvironmentReader.process()
        let url = StoreURL.redis(reading: &reader)
        do {
            _ = try reader.finish()
        } catch {
            throw RedisError(code: .url, message: "\(error)")
        }
        return try RedisConfiguration(url: url)
    }
}
