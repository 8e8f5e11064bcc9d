internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import Logging
internal import NIOCore
internal import PostgresStore
internal import PresenceLogic
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Ends sessions that are in PostgreSQL's copy but not in Redis. Redis has lost its data, and their gateways were lost
/// at the same time or do not know them any more, so that nobody reasserts them.
struct SessionMirrorCheck: Sendable {
    /// The number of rows checked in one pipeline.
    private static let page = 500
    /// The pause between two pages.
    private static let pause = Duration.milliseconds(100)

    let functions: PresenceFunctions
    let store: MirrorStore
    let ending: SessionEnding
    let uptime: RedisUptime
    /// How long gateways get, after Redis is back, to reassert what they hold: several times as long as that takes.
    var settling = Duration.seconds(30)

    /// Checks all rows.
    func round(_ renew: () async throws -> Void) async throws {
        var last: UserKey?
        repeat {
            // Waiting here, rather than skipping the round, saves a minute after Redis has lost data.
            guard try await uptime.wait(for: settling, renew) else { return }
            let rows = try await store.presentSessions(after: last, limit: Self.page)
            // Users whose master has gone away since are left to a later round.
            let known = await functions.redis.answersInTime(
                to: rows.map { RedisCommand("EXISTS", key: UserKeys($0.user).session) })
            for (row, reply) in zip(rows, known) where reply?.int == 0 { try await end(row) }
            last = rows.count == Self.page ? rows.last?.user : nil
            try await renew()
            if last != nil { try await Task.sleep(for: Self.pause) }
        } while last != nil
    }

    private func end(_ row: PresenceMirrorRow) async throws {
        let channels = try await store.channels(of: row.user)
        switch try await functions.forgotten(row, channels: channels) {
        case .ended(let ended):
            PresenceMetrics.shared.forgotten.increment()
            try await ending.carryOut(ended, of: row.user)
        case .over(let change):
            var row = row
            (row.present, row.version) = (false, change)
            _ = try await functions.redis.answers(to: functions.mirror.entries(row))
        case .present: break
        }
    }
}
