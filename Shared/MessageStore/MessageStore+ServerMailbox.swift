internal import BusProtocol
internal import ClusterState
internal import RedisClient
package import SignalingProtocol

/// Messages of a mailbox, as an app's server sees them: without call events.
package struct MailListing: Equatable, Sendable {
    /// The messages that wait in all; those that have expired meanwhile, and were not met by a read yet, are counted.
    package var count: Int64
    /// Whether there may be messages above ``through``, even when this listing has none.
    package var more: Bool
    /// The version up to which entries were read.
    package var through: Int64
    /// The messages that have not expired, ascending.
    package var entries: [MailboxEntry]

    package init(count: Int64, more: Bool, through: Int64, entries: [MailboxEntry]) {
        self.count = count
        self.more = more
        self.through = through
        self.entries = entries
    }
}

/// What became of the wish to recall a message.
package enum MailRecall: Int64, Sendable {
    /// There is no such message: it was never sent, was read, has expired, or is a call event.
    case absent = 0
    /// It is deleted; no session will be given it.
    case recalled = 1
    /// The user's session was given it, or may have been.
    case delivered = 2
}

/// Mailboxes as apps' servers use them. No session is needed, and call events are neither seen nor deleted.
extension MessageStore {
    /// Lists messages that wait for a user, at most 128 KiB of lines.
    /// - Throws: `SignalingError` when Redis does not answer, as all methods here.
    package func listMail(
        of user: UserKey, after version: Int64, limit: Int
    ) async throws(SignalingError) -> MailListing {
        try await perform(
            .function("mailbox_list", tag: KeySpace.tag(user), .int64(version), .int(limit)), Self.listing)
    }

    /// Deletes the messages that wait for a user now, in calls of which each is short.
    /// - Returns: how many have waited, and the number of calls.
    package func emptyMailbox(of user: UserKey) async throws(SignalingError) -> (count: Int64, calls: Int) {
        var (count, calls, after) = (Int64(0), 0, Int64(0))
        var end: RedisArgument = ""
        while true {
            var command = RedisCommand.function("mailbox_empty", tag: KeySpace.tag(user), .int64(after), end)
            command.isDurable = true
            let numbers = try await perform(command) { reply -> [Int64]? in
                let numbers = reply.array?.compactMap(\.int) ?? []
                return numbers.count == 4 ? numbers : nil
            }
            calls += 1
            count += numbers[0]
            // A call reads at least one entry, so that the end is reached.
            guard numbers[1] == 1, numbers[2] > after else { return (count, calls) }
            (after, end) = (numbers[2], .int64(numbers[3]))
        }
    }

    /// Deletes a message, unless the user's session was given it.
    /// - Parameter command: the id by which a repetition is recognised; nil when there is none.
    package func recallMail(
        of user: UserKey, version: Int64, as command: CommandID?
    ) async throws(SignalingError) -> MailRecall {
        var call = RedisCommand.function(
            "mailbox_recall", tag: KeySpace.tag(user), .string(command?.rawValue ?? ""), .int64(version))
        call.isDurable = true
        return try await perform(call) { $0.array?.first?.int.flatMap { MailRecall(rawValue: $0) } }
    }

    private static func listing(_ reply: RedisValue) -> MailListing? {
        guard let parts = reply.array, parts.count >= 3, parts.count % 3 == 0, let count = parts[0].int,
            let more = parts[1].int, let through = parts[2].int
        else { return nil }
        var entries: [MailboxEntry] = []
        entries.reserveCapacity(parts.count / 3 - 1)
        for index in stride(from: 3, to: parts.count, by: 3) {
            guard let version = parts[index].int, let expiry = parts[index + 1].int, let line = parts[index + 2].string
            else { return nil }
            entries.append(MailboxEntry(version: version, expiresAt: RedisTime(milliseconds: expiry), line: line))
        }
        return MailListing(count: count, more: more == 1, through: through, entries: entries)
    }
}
