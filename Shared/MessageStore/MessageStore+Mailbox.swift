package import BusProtocol
internal import ClusterState
internal import RedisClient
package import SignalingProtocol

/// The part of a mailbox that is read.
package struct MailboxSection: Sendable {
    let after: Int64
    let limit: Int
    let isFresh: Bool

    /// - Parameters:
    ///   - version: only entries above it are returned; deleted entries are never returned.
    ///   - limit: the largest number of entries in the page.
    ///   - fresh: whether this is the first read of a new session. If so, call events of earlier sessions, which it
    ///     cannot know, are dropped first, and so are invitations to calls that have ended.
    package init(after version: Int64, limit: Int, fresh: Bool) {
        after = version
        self.limit = limit
        isFresh = fresh
    }
}

extension MessageStore {
    /// Reads a page of a user's mailbox; on the loop only. Expired entries are deleted and never returned.
    ///
    /// A page has at most 128 KiB of lines. Fails as described at ``SessionFence``.
    /// - Parameter fence: the user's session that reads.
    package func readMailbox(
        _ user: UserKey, in fence: SessionFence, _ section: MailboxSection,
        _ completion: @escaping (Result<MailboxPage, SignalingError>) -> Void
    ) {
        let command = RedisCommand.function(
            "mailbox_read", tag: KeySpace.tag(user), .string(fence.session.rawValue), .string(fence.gateway.rawValue),
            .int64(section.after), .int(section.limit), section.isFresh ? 1 : 0)
        perform(command, Self.page, completion)
    }

    /// Deletes an entry, such as an expired invitation, if it exists.
    /// - Throws: `SignalingError` when Redis does not answer.
    package func removeMail(_ user: UserKey, version: Int64) async throws(SignalingError) {
        try await perform(
            .function("mailbox_remove", tag: KeySpace.tag(user), .int64(version)), { _ in () })
    }

    private static func page(_ reply: RedisValue) -> MailboxPage? {
        guard let parts = reply.array, parts.count >= 5, parts.count % 3 == 2, let now = parts[0].int,
            let cleared = parts[1].int, let highest = parts[2].int, let more = parts[3].int, let through = parts[4].int
        else { return nil }
        var entries: [MailboxEntry] = []
        entries.reserveCapacity(parts.count / 3 - 1)
        for index in stride(from: 5, to: parts.count, by: 3) {
            guard let version = parts[index].int, let expiry = parts[index + 1].int, let line = parts[index + 2].string
            else { return nil }
            entries.append(MailboxEntry(version: version, expiresAt: RedisTime(milliseconds: expiry), line: line))
        }
        var page = MailboxPage(
            cleared: cleared, highest: highest, entries: entries, now: RedisTime(milliseconds: now))
        page.through = through
        page.more = more == 1
        return page
    }
}
