internal import ClusterState
internal import RedisClient

extension RedisInspector {
    /// The number of keys that a server looks at for one answer, which takes it about 1 ms.
    private static let page = 1000

    /// Visits all keys of some masters that match a pattern, page by page. A server answers other requests in
    /// between; a key may occur twice.
    /// - Parameter visit: gets a connection to the master, and keys that it has.
    /// - Throws: when a master does not answer; what `visit` throws.
    func visitKeys(
        matching pattern: String, on masters: [NodeAddress],
        _ visit: (RedisConnection, [String]) async throws(RedisError) -> Void
    ) async throws(RedisError) {
        for master in masters {
            let connection = RedisConnection(
                configuration: configuration.at(master), eventLoop: client.eventLoop, keepsClock: false,
                logger: Self.silent)
            connection.start()
            let result: Result<Void, RedisError>
            do throws(RedisError) {
                result = .success(try await Self.visitKeys(matching: pattern, connection, visit))
            } catch {
                result = .failure(error)
            }
            await connection.close()
            try result.get()
        }
    }

    private static func visitKeys(
        matching pattern: String, _ connection: RedisConnection,
        _ visit: (RedisConnection, [String]) async throws(RedisError) -> Void
    ) async throws(RedisError) {
        var cursor = "0"
        repeat {
            let scan = RedisCommand("SCAN", .string(cursor), "MATCH", .string(pattern), "COUNT", .int(page))
            guard let parts = try await connection.execute(scan).array, parts.count == 2, let next = parts[0].string
            else { throw .shape("the reply to SCAN") }
            cursor = next
            try await visit(connection, parts[1].texts)
        } while cursor != "0"
    }
}
