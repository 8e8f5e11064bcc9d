/// What statements are run on: a pool, or one transaction of it. Stores work on either.
package protocol PostgresSession: Sendable {
    /// The server's address and the time and size limits.
    var configuration: PostgresConfiguration { get }

    /// Runs one statement; see ``PostgresPool/query(_:_:within:)``.
    func run(
        _ sql: String, _ parameters: [PostgresParameter], within time: Duration?
    ) async throws(PostgresError) -> PostgresRows
}

extension PostgresSession {
    /// Runs one statement; see ``PostgresPool/query(_:_:within:)``.
    @discardableResult
    package func query(
        _ sql: String, _ parameters: [PostgresParameter] = [], within time: Duration? = nil
    ) async throws(PostgresError) -> PostgresRows {
        try await run(sql, parameters, within: time)
    }
}

extension PostgresPool: PostgresSession {
    package func run(
        _ sql: String, _ parameters: [PostgresParameter], within time: Duration?
    ) async throws(PostgresError) -> PostgresRows {
        try await query(sql, parameters, within: time)
    }
}

/// A transaction under way. After a statement has failed, or the connection was lost, all that follow fail with
/// ``PostgresError/Kind/closed``, and so does its end.
package struct PostgresTransaction: PostgresSession {
    package let configuration: PostgresConfiguration
    fileprivate let connection: PostgresConnection

    package func run(
        _ sql: String, _ parameters: [PostgresParameter], within time: Duration?
    ) async throws(PostgresError) -> PostgresRows {
        try await connection.continued(sql, parameters, timeout: time)
    }
}

extension PostgresPool {
    /// Runs `body` in one transaction on one connection. What it did is kept when it returns, and nothing of it when
    /// it throws.
    /// - Parameter begin: the statements that begin it: `BEGIN` with the modes, then locks and the like.
    /// - Throws: what `body` throws; ``PostgresError`` of kind `closed` or `timeout` from the end of the transaction
    ///   when it is unknown whether it is kept.
    package func transaction<Value: Sendable>(
        _ begin: String = "BEGIN", _ body: (PostgresTransaction) async throws -> Value
    ) async throws -> Value {
        let outcome: Result<Value, any Error> = try await withConnection { connection async throws(PostgresError) in
            do {
                try await connection.begin(begin)
                let value = try await body(
                    PostgresTransaction(configuration: configuration, connection: connection))
                try await connection.commit()
                return .success(value)
            } catch {
                // Rolls back.
                await connection.disconnect()
                return .failure(error)
            }
        }
        return try outcome.get()
    }
}
