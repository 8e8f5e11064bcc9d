public import SignalingProtocol

/// The table `users`.
public struct UserStore: Sendable {
    private let pool: PostgresPool

    /// Works on the database of `pool`.
    public init(pool: PostgresPool) { self.pool = pool }

    /// The users' numbers: given to an account when it is first seen, the same ever after, unique in the cluster, from 1
    /// up. Also notes that the users were seen now.
    /// - Throws: ``PostgresError``; 2200H when all 4,294,967,295 numbers are taken.
    public func uids(for users: [UserKey]) async throws(PostgresError) -> [UserKey: UInt32] {
        guard !users.isEmpty else { return [:] }
        let users = Array(Set(users))
        let rows = try await pool.query(
            "SELECT ordinal, uid FROM user_uids_for($1, $2)",
            [.texts(users.map(\.app.rawValue)), .texts(users.map(\.account.rawValue))])
        guard rows.count == users.count else {
            throw PostgresError(.shape, "\(rows.count) numbers for \(users.count) users")
        }
        var uids: [UserKey: UInt32] = [:]
        for row in rows {
            let index = Int(try row.int64("ordinal")) - 1
            guard users.indices.contains(index), let uid = UInt32(exactly: try row.int64("uid")) else {
                throw PostgresError(.shape, "a user's number is out of range")
            }
            uids[users[index]] = uid
        }
        return uids
    }
}
