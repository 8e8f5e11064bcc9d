internal import ChannelStateLogic
internal import ClusterBus
internal import PostgresStore
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Loads channels' attributes from PostgreSQL, their permanent store, into the cache in Redis.
struct ChannelAttributeCache: Sendable {
    /// The number of attempts to read PostgreSQL, each overtaken by a concurrent change; after them the channel's timer
    /// takes over.
    private static let attempts = 3
    /// How often to check whether another process's reload has finished, and the pause between two checks.
    private static let patience = (attempts: 50, pause: Duration.milliseconds(20))

    let functions: ChannelFunctions
    let store: AttributeStore

    /// Reads PostgreSQL and fills the cache. Members are informed of differences as if `account` had made the changes.
    func load(_ channel: ChannelKey, account: Account, uid: UInt32) async throws(SignalingError) {
        for _ in 0..<Self.attempts {
            let read = try await answerOfPostgres { () throws(PostgresError) in
                try await store.channelAttributes(channel)
            }
            if try await put(read, account: account, uid: uid, channel) { return }
        }
    }

    /// Replaces the cache by PostgreSQL's attributes if those are older, because PostgreSQL has lost commits in a
    /// failover or was restored from a backup. New versions then begin above the highest cached one.
    func replaceIfPostgresIsOlder(_ channel: ChannelKey, account: Account, uid: UInt32) async throws(SignalingError) {
        // The cache is read first: if PostgreSQL, read later, is older nevertheless, it has lost commits.
        guard let cached = try await functions.cached(channel).version else { return }
        let stored = try await answerOfPostgres { () throws(PostgresError) in try await store.channelVersion(channel) }
        guard stored < cached else { return }
        try await answerOfPostgres { () throws(PostgresError) in
            try await store.raiseChannelVersion(channel, above: cached)
        }
        ChannelMetrics.shared.reloaded.increment()
        try await load(channel, account: account, uid: uid)
    }

    /// Makes the cache agree with PostgreSQL if their versions differ.
    func resynchronize(_ channel: ChannelKey, account: Account) async throws(SignalingError) {
        let cached = try await functions.cached(channel)
        guard let version = cached.version else {
            if cached.isAwaited { try await load(channel, account: account, uid: 0) }
            return
        }
        let stored = try await answerOfPostgres { () throws(PostgresError) in try await store.channelVersion(channel) }
        if stored > version { return try await load(channel, account: account, uid: 0) }
        if stored < version, stored > 0 { try await replaceIfPostgresIsOlder(channel, account: account, uid: 0) }
    }

    /// - Returns: false when the attributes must be read again, because a later commit is known or another reload
    ///   replaced this one.
    private func put(
        _ read: VersionedAttributes, account: Account, uid: UInt32, _ channel: ChannelKey
    ) async throws(SignalingError) -> Bool {
        let all = AttributeSteps.of(read.attributes)
        let attempt = ChannelFunctions.ReloadAttempt(version: read.version, account: account, uid: uid)
        for _ in 0..<Self.patience.attempts {
            if all.count == 1 {
                switch try await functions.reloadAtOnce(all[0], attempt, channel) {
                case .begun, .known: return true
                case .old: return false
                case .busy:
                    await pause()
                    continue
                case .differs: break
                }
            }
            var steps = all
            switch try await functions.beginReload(attempt, channel) {
            case .begun: break
            case .differs:
                let cached = try await functions.cachedAttributes(channel)
                steps = AttributeSteps.of(AttributeDifferences.between(cached, and: read.attributes))
            case .known: return true
            case .old: return false
            case .busy:
                await pause()
                continue
            }
            for (index, step) in steps.enumerated() {
                let isUnderWay = try await functions.reloadStep(
                    step, isLast: index == steps.count - 1, of: attempt, channel)
                guard isUnderWay else { return false }
            }
            return true
        }
        return false
    }

    /// Returns at once when the task is cancelled; the loop around it is bounded.
    private func pause() async { try? await Task.sleep(for: Self.patience.pause) }
}
