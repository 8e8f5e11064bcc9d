internal import ClusterState
internal import RedisStore
package import SignalingProtocol

extension MessageStore {
    /// Reads a page of a user's mailbox; on the loop only. Expired entries are deleted and never returned.
    ///
    /// A page has at most 128 KiB of lines. Fails as described at ``SessionFence``.
    /// - Parameters:
    ///   - fence: the user's session that reads.
    ///   - version: only entries above it are returned; deleted entries are never returned.
    ///   - limit: the largest number of entries in the page.
    ///   - fresh: whether this is the first read of a new session. If so, call events of earlier sessions, which it cannot
    ///     know, are dropped first, and so are invitations to calls that have ended.
    package func readMailbox(
        _ user: UserKey, in fence: SessionFence, after version: Int64, limit: Int, fresh: Bool,
        _ completion: @escaping (Result<MailboxPage, SignalingError>) -> Void
    ) {
        let command = RedisCommand.function(
            "mailbox_read", tag: KeySpace.tag(user), .string(fence.session.rawValue), .string(fence.gateway.rawValue),
            .int64(version), .int(limit), fresh ? 1 : 0)
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
            entries.append(MailboxEntry(version: version, expiresAt: expiry, line: line))
        }
        return MailboxPage(
            cleared: cleared, highest: highest, entries: entries, through: through, more: more == 1, now: now)
    }
}
