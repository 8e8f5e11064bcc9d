package import RedisClient

/// Decides which process does the next round of a periodic job: the one that first sets a key in Redis, until the key
/// expires.
package struct RoundLock: Sendable {
    /// The key that is set.
    let key: String
    private let timeToLive: Duration
    private let connection: RedisClient

    /// Creates a lock that is not held.
    /// - Parameters:
    ///   - key: one of `KeySpace`, used for this job only.
    ///   - timeToLive: how long after ``take()`` or ``renew()`` no other process can take the lock.
    package init(key: String, timeToLive: Duration, connection: RedisClient) {
        self.key = key
        self.timeToLive = timeToLive
        self.connection = connection
    }

    private var milliseconds: RedisArgument { .milliseconds(timeToLive) }

    /// - Returns: whether this process has taken the lock; false while it is held, by whichever process.
    /// - Throws: `RedisError`.
    package func take() async throws -> Bool {
        try await connection.execute(RedisCommand("SET", key: key, "1", "NX", "PX", milliseconds)).string == "OK"
    }

    /// Keeps the lock for another ``timeToLive``. Must be called by the process that took it, before it expires.
    /// - Throws: `RedisError`, with code `lost` when the lock has expired; `CancellationError`.
    func renew() async throws {
        guard try await connection.execute(RedisCommand("PEXPIRE", key: key, milliseconds)).int == 1 else {
            throw RedisError(code: .lost, message: "another process has taken over the round")
        }
        try Task.checkCancellation()
    }
}
