package import SignalingProtocol
package import SignalingWire

/// A page of the messages that wait for a user, put together of the parts that Redis returns.
package struct MailPage: Equatable, Sendable {
    /// Bytes of lines after which a page ends, though fewer messages than asked for are in it.
    package static let bytesBound = 1 << 20
    /// Parts that are read for a page, of which a part may have no message.
    package static let partsBound = 16

    /// Messages of the page at most.
    package let limit: Int
    /// The version to read on above.
    package private(set) var position: Int64
    /// The messages so far, ascending.
    package private(set) var messages: [WaitingMessage] = []
    /// The messages that wait in all.
    package private(set) var count: Int64 = 0
    /// Whether there may be further messages after the page.
    package private(set) var hasNext = true
    private var bytes = 0
    private var parts = 0

    /// What reading the page has cost.
    package var work: APIWork { APIWork(calls: parts, bytes: bytes) }

    /// The messages that are still to be read.
    package var missing: Int { limit - messages.count }

    /// - Parameter version: only messages above it are in the page.
    package init(after version: Int64, limit: Int) {
        position = version
        self.limit = limit
    }

    /// Takes what was read above ``position``: at most ``missing`` messages.
    /// - Parameters:
    ///   - through: the version up to which it was read.
    ///   - more: whether there may be entries above that.
    /// - Returns: whether to read on.
    /// - Throws: ``APIProblem`` with ``APIErrorCode/failed`` when an entry is none that the cluster writes.
    package mutating func take(
        _ entries: [MailboxEntry], count: Int64, through: Int64, more: Bool
    ) throws(APIProblem) -> Bool {
        parts += 1
        self.count = count
        for entry in entries {
            bytes += entry.line.utf8.count
            guard let message = WaitingMessage(entry) else {
                throw APIProblem(.failed, "entry \(entry.version) of the mailbox is no message")
            }
            messages.append(message)
        }
        position = max(position, through)
        hasNext = more
        return more && messages.count < limit && bytes < Self.bytesBound && parts < Self.partsBound
    }

    /// What is answered.
    package var json: JSONValue {
        .object([
            JSONMember("count", count), JSONMember("messages", .array(messages.map(\.json))),
            JSONMember("next", hasNext ? String(position) : nil),
        ])
    }
}

/// A message that waits for a user.
package struct WaitingMessage: Equatable, Sendable {
    package let version: Int64
    /// The sender.
    package let account: String
    /// When it was sent, in Unix seconds.
    package let time: Int64
    package let expiresAt: RedisTime
    package let text: String

    /// - Returns: nil when the entry's line is none of a message.
    init?(_ entry: MailboxEntry) {
        guard let line = MessageLine.Parts(entry.line) else { return nil }
        version = entry.version
        account = line.from
        time = line.time
        expiresAt = entry.expiresAt
        text = line.content
    }

    fileprivate var json: JSONValue {
        .object([
            JSONMember("version", version), JSONMember("account", account), JSONMember("time", time),
            JSONMember("expiresAt", expiresAt.milliseconds / 1000), JSONMember("size", text.utf8.count),
            JSONMember("message", text),
        ])
    }
}
