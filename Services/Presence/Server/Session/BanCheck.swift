internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import PostgresStore
internal import PresenceLogic
internal import RedisClient
internal import SignalingProtocol

/// Sees to it that bans and their ends hold after Redis has lost data, and deletes those that are long over. Users
/// whose master is away are left to a later round.
actor BanCheck {
    /// Bans that are pruned in one statement.
    private static let pruned = 500
    /// The pause between two pages.
    private static let pause = Duration.milliseconds(100)
    /// How long a round checks bans; what is left is checked by the next.
    private static let patience = Duration.seconds(30)

    private let store: BanStore
    private let functions: PresenceFunctions
    private var turns = BanTurns()

    init(store: BanStore, functions: PresenceFunctions) {
        self.store = store
        self.functions = functions
    }

    /// Writes to Redis again what it has lost of bans and their ends, and ends the sessions
    /// that have been opened meanwhile.
    func round(_ renew: @Sendable () async throws -> Void) async throws {
        while try await store.prune(limit: Self.pruned) == Self.pruned { try await renew() }
        turns.begin(try await store.apps())
        let end = ContinuousClock.now + Self.patience
        while let page = turns.next, ContinuousClock.now < end {
            let entries = try await store.recent(after: page.places.map { ($0.app, $0.last) }, limit: page.limit)
            try await note(entries)
            try await endSessions(of: entries.filter(\.holds))
            turns.checked(page, Dictionary(grouping: entries, by: \.user.app).mapValues { $0.map(\.user.account) })
            try await renew()
            if turns.next != nil { try await Task.sleep(for: Self.pause) }
        }
    }

    /// Writes the bans that Redis has lost. Where it does not know the user's number, logins read the ban with the
    /// number, and nothing is written: what a ban costs Redis goes when the user does.
    private func note(_ entries: [BanStore.Entry]) async throws {
        let boxes = await functions.redis.answersInTime(
            to: entries.map { RedisCommand("HMGET", key: UserKeys($0.user).box, "uid", "ban") })
        let lost = zip(entries, boxes).filter { entry, box in
            guard let fields = box?.array, fields.count == 2, fields[0].string != nil else { return false }
            let version = fields[1].string?.split(separator: " ").last.flatMap { Int64($0) }
            return version ?? 0 < entry.version
        }
        _ = try await functions.redis.answers(to: lost.map { BanHandler.noting($0.0) })
    }

    private func endSessions(of entries: [BanStore.Entry]) async throws {
        let found = await functions.redis.answersInTime(
            to: entries.map { RedisCommand("EXISTS", key: UserKeys($0.user).session) })
        let disconnects = zip(entries, found).filter { $0.1?.int == 1 }.map { entry, _ in
            PostedCommand.command(
                on: functions.redis.bus, for: DisconnectUser(user: entry.user),
                id: CommandID("ban-\(entry.version)-\(SecureRandom.hex(bytes: 8))"))
        }
        _ = try await functions.redis.answers(to: disconnects)
    }
}
