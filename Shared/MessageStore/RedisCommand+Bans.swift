internal import ClusterState
package import RedisClient
package import SignalingProtocol

extension RedisCommand {
    /// Copies a user's ban and token revocation to Redis, where logins check them. An older version never replaces a
    /// newer one.
    /// - Parameters:
    ///   - until: when the ban ends, in Unix seconds; 0 when it was lifted.
    ///   - tokens: login tokens that end at this time or earlier are refused, in Unix seconds; 0 when none was revoked.
    ///   - version: that of the ban or of its end in PostgreSQL.
    package static func noting(banOf user: UserKey, until: Int64, tokens: Int64, version: Int64) -> RedisCommand {
        .function("user_ban", tag: KeySpace.tag(user), .int64(until * 1000), .int64(version), .int64(tokens)).durable
    }
}
