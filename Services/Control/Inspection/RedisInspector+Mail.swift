internal import ClusterState
package import RedisClient

/// How much waits for a user.
package struct WaitingMail: Equatable, Sendable {
    package var app: String
    package var account: String
    /// Messages and call events, those that have expired and that nobody has removed yet too.
    package var messages: Int64
}

/// A user's mailbox as Redis stores it, for a backup.
package struct SavedMail: Equatable, Sendable {
    /// One of its keys.
    package struct Part: Equatable, Sendable {
        /// The end of the key's name, such as `:mbox`.
        package var suffix: String
        /// The value in the form of DUMP.
        package var dump: [UInt8]
        /// When the key expires, Unix milliseconds; 0: never.
        package var expiry: Int64

        package init(suffix: String, dump: [UInt8], expiry: Int64) {
            self.suffix = suffix
            self.dump = dump
            self.expiry = expiry
        }
    }

    /// What the names of the user's keys begin with.
    package var tag: String
    package var parts: [Part]

    package init(tag: String, parts: [Part]) {
        self.tag = tag
        self.parts = parts
    }

    /// The commands that put it back, in place of what is there. No session is left as the
    /// owner: none goes on after a restore.
    package var restoring: [RedisCommand] {
        parts.map { part in
            RedisCommand(
                "RESTORE", key: tag + part.suffix, .int64(part.expiry), .bytes(part.dump), "REPLACE", "ABSTTL")
        } + [RedisCommand("HSET", key: tag + UserKeys.boxSuffix, "sid", "", "gateway", "")]
    }
}

extension RedisInspector {
    /// Reads the keys of a mailbox as they are at one moment: name's end, value and expiry of each.
    private static let saving = """
        local parts = {}
        for _, suffix in ipairs({':mbox', ':mcall', ':mfrom', ':box'}) do
            local value = redis.call('DUMP', KEYS[1] .. suffix)
            if value then
                local expiry = redis.call('PEXPIRETIME', KEYS[1] .. suffix)
                parts[#parts + 1] = suffix
                parts[#parts + 1] = value
                parts[#parts + 1] = math.max(expiry, 0)
            end
        end
        return parts
        """

    /// Counts what waits for each user, by searching all keys of some masters.
    /// - Throws: when a master does not answer.
    package func waitingMail(on masters: [NodeAddress]) async throws(RedisError) -> [WaitingMail] {
        var found: [String: WaitingMail] = [:]
        try await visitKeys(matching: UserKeys.mailboxPattern, on: masters) { connection, keys in
            let counts = await connection.execute(keys.map { RedisCommand("XLEN", key: $0) })
            for (key, count) in zip(keys, counts) {
                // A key that has just been moved away is on the other master.
                guard let messages = try? count.get().int, messages > 0, let user = UserKeys.user(ofMailbox: key)
                else { continue }
                found[key] = WaitingMail(app: user.app, account: user.account, messages: messages)
            }
        }
        return found.values.sorted {
            ($1.messages, $0.app, $0.account) < ($0.messages, $1.app, $1.account)
        }
    }

    /// Reads all mailboxes in which something waits.
    /// - Parameter save: called with each of them, once.
    /// - Throws: when a master does not answer, or slots are being moved; what `save` throws.
    package func saveMail(
        on masters: [NodeAddress], _ save: (SavedMail) throws(RedisError) -> Void
    ) async throws(RedisError) {
        var saved: Set<String> = []
        try await visitKeys(matching: UserKeys.mailboxPattern, on: masters) { connection, keys throws(RedisError) in
            for key in keys where saved.insert(key).inserted {
                let tag = String(key.dropLast(UserKeys.mailboxSuffix.count))
                let reply = try await connection.execute(RedisCommand("EVAL", .string(Self.saving), 1, .string(tag)))
                guard let parts = try Self.parts(reply) else { continue }
                try save(SavedMail(tag: tag, parts: parts))
            }
        }
    }

    /// The parts of a mailbox; nil when it has been emptied since its key was found.
    private static func parts(_ reply: RedisValue) throws(RedisError) -> [SavedMail.Part]? {
        guard let values = reply.array, values.count % 3 == 0 else { throw .shape("a mailbox") }
        var parts: [SavedMail.Part] = []
        for index in stride(from: 0, to: values.count, by: 3) {
            guard let suffix = values[index].string, let dump = values[index + 1].bytes,
                let expiry = values[index + 2].int
            else { throw .shape("a mailbox") }
            parts.append(SavedMail.Part(suffix: suffix, dump: dump, expiry: expiry))
        }
        return parts.contains { $0.suffix == UserKeys.mailboxSuffix } ? parts : nil
    }

    /// The number of keys of some masters, in the database of the URL.
    /// - Throws: when a master does not answer.
    package func keyCount(on masters: [NodeAddress]) async throws(RedisError) -> Int64 {
        var keys: Int64 = 0
        for master in masters {
            keys += try await client.ask([RedisCommand("DBSIZE")], configuration.at(master)).get()[0].int ?? 0
        }
        return keys
    }

    /// A key of some masters that is not Heliograph's; nil when there is none.
    /// - Throws: when a master does not answer.
    package func foreignKey(on masters: [NodeAddress]) async throws(RedisError) -> String? {
        var found: String?
        // All keys with a tag are Heliograph's; the server itself passes them over.
        try await visitKeys(matching: "[^{]*", on: masters) { _, keys in
            found = found ?? keys.first { !KeySpace.isOwn($0) }
        }
        return found
    }

    /// Deletes all keys of some masters, in the database of the URL alone: a server may have others, of others.
    /// - Throws: when a master does not answer.
    package func deleteAllKeys(on masters: [NodeAddress]) async throws(RedisError) {
        for master in masters {
            _ = try await client.ask([RedisCommand("FLUSHDB", arguments: ["ASYNC"])], configuration.at(master)).get()
        }
    }
}
