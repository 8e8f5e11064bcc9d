internal import Pacing
package import SignalingProtocol
internal import Synchronization

/// One change to a channel's attributes.
package struct ChannelAttributeChange: Equatable, Sendable {
    /// The id of the command that makes the change; a change is applied once per id, however often it is submitted.
    package var command: CommandID
    /// The channel that owns the attributes.
    package var channel: ChannelKey
    /// The account that makes the change.
    package var account: Account
    package var change: AttributeChange

    package init(command: CommandID, channel: ChannelKey, account: Account, change: AttributeChange) {
        self.command = command
        self.channel = channel
        self.account = account
        self.change = change
    }
}

/// One change to a user's attributes.
package struct UserAttributeChange: Equatable, Sendable {
    /// The id of the command that makes the change; a change is applied once per id, however often it is submitted.
    package var command: CommandID
    /// The user who owns the attributes.
    package var user: UserKey
    package var change: AttributeChange

    package init(command: CommandID, user: UserKey, change: AttributeChange) {
        self.command = command
        self.user = user
        self.change = change
    }
}

/// All attributes of a user or channel, at one version.
package struct VersionedAttributes: Equatable, Sendable {
    /// Increases by one with every change, deletions included. The first version is the clock in milliseconds; 0 means
    /// that the owner never had an attribute.
    package var version: Int64
    /// Sorted by name.
    package var attributes: [Attribute]

    package init(version: Int64, attributes: [Attribute]) {
        self.version = version
        self.attributes = attributes
    }
}

/// The tables `user_attributes` and `channel_attributes`. A change is committed when its method returns.
///
/// Callers with concurrent changes should submit them through a ``Batcher``.
package final class AttributeStore: Sendable {
    private static let pruneInterval = Duration.seconds(60)
    /// The interval while batches come back full: at one batch a minute, a faster inflow
    /// would grow the table without end.
    private static let pruneOnInterval = Duration.seconds(1)
    /// The largest number of command ids deleted by one statement.
    private static let pruneBatch = 20_000
    /// The largest number of channels deleted by one statement, see ``forgetChannels(unchangedFor:)``.
    package static let forgetBatch = 5000

    let pool: PostgresPool
    private let nextPrune = Mutex(ContinuousClock.now)

    /// Works on the database of `pool`.
    package init(pool: PostgresPool) { self.pool = pool }

    /// Applies changes in order, in one statement: all or none.
    /// - Returns: for each change, the channel's version after it; 0 when the change was refused because the channel
    ///   would exceed ``Limits/attributesPerOwner`` attributes or ``Limits/attributeBytesPerOwner`` bytes.
    /// - Throws: ``PostgresError``; of kind `nul`, with nothing applied, when a value contains the NUL character.
    package func changeChannelAttributes(_ changes: [ChannelAttributeChange]) async throws(PostgresError) -> [Int64] {
        let parameters = Self.parameters(
            changes.map { ($0.command, $0.channel.app, $0.channel.name.rawValue, $0.change) })
        return try await change(
            "SELECT version FROM change_channel_attributes($1, $2, $3, $4, $5, $6, $7) ORDER BY ordinal",
            parameters + [.texts(changes.map(\.account.rawValue))], count: changes.count)
    }

    /// Applies changes in order, in one statement: all or none.
    /// - Returns: for each change, the user's version after it; 0 when the change was refused, see
    ///   ``changeChannelAttributes(_:)``.
    /// - Throws: ``PostgresError``; of kind `nul`, with nothing applied, when a value contains the NUL character.
    package func changeUserAttributes(_ changes: [UserAttributeChange]) async throws(PostgresError) -> [Int64] {
        let parameters = Self.parameters(
            changes.map { ($0.command, $0.user.app, $0.user.account.rawValue, $0.change) })
        return try await change(
            "SELECT version FROM change_user_attributes($1, $2, $3, $4, $5, $6) ORDER BY ordinal", parameters,
            count: changes.count)
    }

    /// A channel's attributes and their version, read in one snapshot.
    package func channelAttributes(_ channel: ChannelKey) async throws(PostgresError) -> VersionedAttributes {
        try await read(
            """
            SELECT v.version, a.name, a.value FROM channel_attribute_versions v
            LEFT JOIN channel_attributes a USING (app, channel)
            WHERE v.app = $1 AND v.channel = $2 ORDER BY a.name
            """, channel.app, channel.name.rawValue)
    }

    /// The version of a channel's attributes; 0 when none is stored.
    package func channelVersion(_ channel: ChannelKey) async throws(PostgresError) -> Int64 {
        let rows = try await pool.query(
            "SELECT version FROM channel_attribute_versions WHERE app = $1 AND channel = $2",
            [.text(channel.app.rawValue), .text(channel.name.rawValue)], within: pool.configuration.actTimeout)
        return try rows.first?.int64("version") ?? 0
    }

    /// Raises the version of a channel's attributes above one that has been handed out. Needed when PostgreSQL
    /// has lost its latest commits (a failover, a restored backup): readers of that version would otherwise
    /// ignore new changes as outdated.
    package func raiseChannelVersion(_ channel: ChannelKey, above version: Int64) async throws(PostgresError) {
        try await pool.query(
            """
            UPDATE channel_attribute_versions SET version = $3 + 1 WHERE app = $1 AND channel = $2 AND version <= $3
            """, [.text(channel.app.rawValue), .text(channel.name.rawValue), .int(version)],
            within: pool.configuration.actTimeout)
    }

    /// The version of a user's attributes; 0 when none is stored.
    package func userVersion(_ user: UserKey) async throws(PostgresError) -> Int64 {
        let rows = try await pool.query(
            "SELECT version FROM user_attribute_versions WHERE app = $1 AND account = $2",
            [.text(user.app.rawValue), .text(user.account.rawValue)], within: pool.configuration.actTimeout)
        return try rows.first?.int64("version") ?? 0
    }

    /// Raises the version of a user's attributes; see ``raiseChannelVersion(_:above:)``.
    package func raiseUserVersion(_ user: UserKey, above version: Int64) async throws(PostgresError) {
        try await pool.query(
            "UPDATE user_attribute_versions SET version = $3 + 1 WHERE app = $1 AND account = $2 AND version <= $3",
            [.text(user.app.rawValue), .text(user.account.rawValue), .int(version)],
            within: pool.configuration.actTimeout)
    }

    /// Deletes the versions of channels that have no attributes and have not changed for `time`, at most
    /// ``forgetBatch`` per call. Should such a channel get attributes again, its version starts at the clock, which
    /// is higher than the deleted one.
    /// - Returns: the number of deleted versions.
    @discardableResult
    package func forgetChannels(unchangedFor time: Duration) async throws(PostgresError) -> Int {
        try await pool.query(
            """
            DELETE FROM channel_attribute_versions WHERE (app, channel) IN (
                SELECT app, channel FROM channel_attribute_versions
                WHERE attributes = 0 AND updated_at < now() - $1::bigint * interval '1 millisecond'
                LIMIT \(Self.forgetBatch) FOR UPDATE SKIP LOCKED)
            """, [.int(time.millisecondsRoundedUp)]
        ).affected
    }

    /// A user's attributes and their version, read in one snapshot.
    package func userAttributes(_ user: UserKey) async throws(PostgresError) -> VersionedAttributes {
        try await userAttributes([user])[0]
    }

    /// Users' attributes and their versions, read in one snapshot, in the order of `users`.
    package func userAttributes(_ users: [UserKey]) async throws(PostgresError) -> [VersionedAttributes] {
        var answers = [VersionedAttributes](repeating: .init(version: 0, attributes: []), count: users.count)
        let rows = try await pool.query(
            "SELECT ordinal, version, name, value FROM user_attributes_of($1, $2)",
            [.texts(users.map(\.app.rawValue)), .texts(users.map(\.account.rawValue))],
            within: pool.configuration.actTimeout)
        for row in rows {
            let index = Int(try row.int64("ordinal")) - 1
            guard answers.indices.contains(index) else {
                throw PostgresError(.shape, "got a row for a user who was not asked for")
            }
            try Self.add(row, to: &answers[index])
        }
        return answers
    }

    /// Deletes command ids older than ten minutes, one batch per call. The change methods call
    /// this by themselves once a minute.
    /// - Returns: the number of deleted ids.
    @discardableResult
    package func prune() async throws(PostgresError) -> Int {
        try await pool.query(
            """
            DELETE FROM applied_commands WHERE command IN (
                SELECT command FROM applied_commands WHERE applied_at < now() - interval '10 minutes'
                LIMIT \(Self.pruneBatch) FOR UPDATE SKIP LOCKED)
            """, within: pool.configuration.actTimeout
        ).affected
    }

    static func parameters(
        _ changes: [(command: CommandID, app: AppID, owner: String, change: AttributeChange)]
    ) -> [PostgresParameter] {
        var kinds: [String] = []
        var names: [String?] = []
        var values: [String?] = []
        for change in changes.map(\.change) {
            switch change {
            case .update(let attribute):
                kinds.append("update")
                names.append(attribute.name.rawValue)
                values.append(attribute.value)
            case .delete(let name):
                kinds.append("delete")
                names.append(name.rawValue)
                values.append(nil)
            case .clear:
                kinds.append("clear")
                names.append(nil)
                values.append(nil)
            }
        }
        return [
            .texts(changes.map(\.command.rawValue)), .texts(changes.map(\.app.rawValue)), .texts(changes.map(\.owner)),
            .texts(kinds), .texts(names), .texts(values),
        ]
    }

    private func change(
        _ sql: String, _ parameters: [PostgresParameter], count: Int
    ) async throws(PostgresError) -> [Int64] {
        guard count > 0 else { return [] }
        var versions: [Int64] = []
        for row in try await pool.query(sql, parameters, within: pool.configuration.changeTimeout) {
            versions.append(try row.int64("version"))
        }
        guard versions.count == count else {
            throw PostgresError(.shape, "got \(versions.count) versions for \(count) changes")
        }
        await pruneIfDue()
        return versions
    }

    private func pruneIfDue() async {
        let now = ContinuousClock.now
        let isDue = nextPrune.withLock { next in
            guard now >= next else { return false }
            next = now + Self.pruneInterval
            return true
        }
        // The change is committed, so a failure to prune must not make it look failed; the next minute tries again.
        guard isDue, let pruned = try? await prune(), pruned == Self.pruneBatch else { return }
        nextPrune.withLock { $0 = .now + Self.pruneOnInterval }
    }

    private func read(_ sql: String, _ app: AppID, _ owner: String) async throws(PostgresError) -> VersionedAttributes {
        var answer = VersionedAttributes(version: 0, attributes: [])
        let rows = try await pool.query(
            sql, [.text(app.rawValue), .text(owner)], within: pool.configuration.actTimeout)
        for row in rows {
            try Self.add(row, to: &answer)
        }
        return answer
    }

    /// Adds one row of the join of versions and attributes to its owner's answer.
    static func add(_ row: PostgresRow, to answer: inout VersionedAttributes) throws(PostgresError) {
        answer.version = try row.int64("version")
        guard let name = try row.optionalString("name") else { return }
        guard let name = try? AttributeName(name) else {
            throw PostgresError(.shape, "the database contains an invalid attribute name")
        }
        answer.attributes.append(Attribute(name: name, value: try row.string("value")))
    }
}
