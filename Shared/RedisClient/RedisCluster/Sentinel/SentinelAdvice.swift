/// What an operator should know of a master and its replicas though it can be used, each in one line; no I/O.
package enum SentinelAdvice {
    /// - Parameters:
    ///   - replicas: a Sentinel's reply to SENTINEL REPLICAS.
    ///   - unnamed: see ``SentinelSurvey/unnamed``.
    /// - Throws: code `SHAPE`.
    package static func lines(
        _ master: ServerIdentity, replicas: RedisValue, unnamed: Int
    ) throws(RedisError) -> [String] {
        var lines = try SentinelReplies.neverSynced(replicas).map {
            "the replica \($0) has never had the master's data: if Sentinel promotes it, all data are lost"
        }
        let count = replicas.array?.count ?? 0
        if count == 0 {
            lines.append("the master has no replica, so nothing can take its place")
        } else if count == 1, master.needsReplicas {
            lines.append(
                "with one replica and min-replicas-to-write, nothing can be written after a failover until the other "
                    + "is back"
            )
        } else if count > 1, !master.needsReplicas {
            lines.append(
                "the master takes writes that no replica gets, which a failover loses: set min-replicas-to-write 1 and "
                    + "min-replicas-max-lag 2")
        }
        if unnamed > 0 {
            lines.append(
                "the URL does not name \(unnamed) of the Sentinels: when one of those replaces a healthy master, what "
                    + "is written meanwhile is lost")
        }
        return lines
    }
}
