internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import Logging
internal import PostgresStore
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Corrects differences between Redis and PostgreSQL's copy of the members, and removes members whose sessions have
/// ended.
///
/// A member that only the copy has was either lost with Redis' data and reasserted by no gateway, or has left without
/// the copy noticing. A member without a session remains from a leave that was lost.
struct MemberMirrorCheck: Sendable {
    /// The number of rows checked in one pipeline.
    private static let page = 500
    /// The pause between two pages.
    private static let pause = Duration.milliseconds(100)

    let functions: ChannelFunctions
    let store: MirrorStore
    let reassertion: MembershipReassertion
    let uptime: RedisUptime
    /// How long gateways get, after Redis is back, to reassert what they hold: several times as long as that takes.
    var settling = Duration.seconds(30)

    /// Checks all rows.
    func round(_ renew: () async throws -> Void) async throws {
        var last: MemberMirrorRow?
        repeat {
            // Set even if it is too early for the round: the earlier it is set, the more exact it is.
            let keptSince = try await dataKeptSince()
            // Waiting here, rather than skipping the round, saves a minute after Redis has lost data.
            guard try await uptime.wait(for: settling, renew) else { return }
            let rows = try await store.presentMembers(after: last, limit: Self.page)
            let infos = try await functions.redis.answers(
                to: rows.map {
                    RedisCommand("HGET", key: ChannelKeys($0.channel).memberInfo, .string($0.account.rawValue))
                })
            try await check(zip(rows, infos).map { ($0, $1.string) }, keptSince: keptSince)
            last = rows.count == Self.page ? rows.last : nil
            try await renew()
            if last != nil { try await Task.sleep(for: Self.pause) }
        } while last != nil
    }

    /// - Returns: the time since which Redis has kept its data, by the number of the partition: each
    ///   may be at a master of its own.
    private func dataKeptSince() async throws -> [RedisTime] {
        let (redis, partitions) = (functions.redis, functions.redis.bus.partitions)
        let now = try await redis.answers(to: partitions.map { RedisCommand("TIME").inSlot($0.slot) }).map(\.time)
        let texts = now.map { String(($0?.milliseconds ?? 0) * 1000) }
        let kept = try await redis.answers(
            to: zip(partitions, texts).map { partition, text in
                RedisCommand("SET", key: KeySpace.dataKeptSince(in: partition), .string(text), "NX", "GET")
            })
        return zip(kept, texts).map { RedisTime(microseconds: Int64($0.string ?? $1) ?? 0) }
    }

    private func check(_ rows: [(row: MemberMirrorRow, info: String?)], keptSince: [RedisTime]) async throws {
        let members = rows.compactMap { row, info in info.map { (row, Self.actor(row, $0)) } }
        let sessions = try await functions.redis.answers(
            to: members.map {
                RedisCommand("HMGET", key: UserKeys($0.1.user).session, "sid", "channel", "leaving")
            })
        for ((row, actor), session) in zip(members, sessions) {
            let fields = session.texts
            guard fields.count == 3 else { throw SignalingError.unreadableAnswer }
            let places = ChannelLines.channels(fields[1]) + ChannelLines.channels(fields[2])
            if fields[0] == actor.session.rawValue, places.contains(row.channel.name) { continue }
            ChannelMetrics.shared.membersForgotten.increment()
            try await reassertion.forget(actor, in: row.channel, isTold: true)
        }
        for (row, info) in rows where info == nil {
            ChannelMetrics.shared.membersForgotten.increment()
            let partition = functions.redis.bus.partition(of: .channel(row.channel))
            let isTold = RedisTime(microseconds: row.version) < keptSince[partition.number]
            let change = try await functions.memberForgotten(row, isTold: isTold)
            guard let change else { continue }
            _ = try await functions.redis.answers(
                to: functions.mirror.entries(
                    Member(account: row.account, uid: row.uid), in: row.channel, present: false, change: change,
                    cause: isTold ? MirrorCause(.leave, reason: .leaveDisconnected) : nil))
        }
    }

    private static func actor(_ row: MemberMirrorRow, _ info: String) -> Actor {
        Actor(
            user: UserKey(app: row.channel.app, account: row.account), uid: row.uid,
            session: MemberInfo(text: info)?.session ?? SessionID(""))
    }
}
