internal import ClusterBus
internal import ClusterState
internal import PostgresStore
internal import PresenceLogic
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Users' attributes: stored in PostgreSQL, and read from Redis where they are cached.
struct UserAttributeCache: Sendable {
    /// The number of reads of PostgreSQL after which attributes are used although a concurrent change has overtaken
    /// them.
    static let attempts = 3

    let functions: PresenceFunctions
    private let reads: Batcher<UserKey, VersionedAttributes>
    private let store: AttributeStore

    init(functions: PresenceFunctions, pool: PostgresPool) {
        let store = AttributeStore(pool: pool)
        self.functions = functions
        self.store = store
        reads = Batcher { users throws(PostgresError) in try await store.userAttributes(users) }
    }

    /// The value of an attribute; empty when it is not set.
    func value(_ name: AttributeName, of user: UserKey) async throws(SignalingError) -> String {
        let keys = UserKeys(user)
        let replies = try await functions.redis.answers(to: [
            RedisCommand("EXISTS", key: keys.attributesVersion),
            RedisCommand("HGET", key: keys.attributes, .string(name.rawValue)),
        ])
        if replies[0].int == 1 { return replies[1].string ?? "" }
        return try await load(user).first { $0.name == name }?.value ?? ""
    }

    /// All attributes, sorted by name.
    func list(of user: UserKey) async throws(SignalingError) -> [Attribute] {
        let keys = UserKeys(user)
        let replies = try await functions.redis.answers(to: [
            RedisCommand("EXISTS", key: keys.attributesVersion), RedisCommand("HGETALL", key: keys.attributes),
        ])
        guard replies[0].int == 1 else { return try await load(user) }
        let texts = replies[1].texts
        var attributes: [Attribute] = []
        for index in stride(from: 0, to: texts.count - 1, by: 2) {
            attributes.append(Attribute(name: try AttributeName(texts[index]), value: texts[index + 1]))
        }
        return attributes.sorted { $0.name < $1.name }
    }

    /// Reads PostgreSQL and fills the cache.
    @discardableResult
    func load(_ user: UserKey) async throws(SignalingError) -> [Attribute] {
        var read = VersionedAttributes(version: 0, attributes: [])
        for _ in 0..<Self.attempts {
            read = try await answerOfPostgres { () throws(PostgresError) in try await reads.submit(user) }
            if try await functions.load(read.attributes, of: user, version: read.version) { break }
        }
        return read.attributes
    }

    /// Makes the cache agree with PostgreSQL. If PostgreSQL is older, because it has lost commits in a failover or was
    /// restored from a backup, the cache is replaced too, and new versions begin above the highest cached one.
    func resynchronize(_ user: UserKey) async throws(SignalingError) {
        // The cache is read first: if PostgreSQL, read later, is older nevertheless, it has lost commits.
        guard let cached = try await functions.cachedVersion(of: user) else { return }
        let stored = try await answerOfPostgres { () throws(PostgresError) in try await store.userVersion(user) }
        if stored == cached || stored == 0 { return }
        if stored < cached {
            try await answerOfPostgres { () throws(PostgresError) in
                try await store.raiseUserVersion(user, above: cached)
            }
            PresenceMetrics.shared.attributesReloaded.increment()
        }
        try await load(user)
    }
}
