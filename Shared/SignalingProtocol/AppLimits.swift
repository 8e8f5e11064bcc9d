/// How much an app's users may send in a second.
public struct AppLimits: Equatable, Sendable {
    /// What each limit may be set to; at the top it is no limit.
    public static let range = 1...unlimited
    /// A limit of so many a second is none.
    public static let unlimited = 1_000_000

    /// Channel messages of one session, and as many instant messages; default ``Limits/messagesPerSecond``.
    public var messagesPerSecond: Int
    /// Messages of one channel, over the whole cluster, unless `_sendmsg_limit` says otherwise; default
    /// ``Limits/channelMessagesPerSecond``.
    public var channelMessagesPerSecond: Int

    /// The documents' limits, or others; what is out of ``range`` is brought into it.
    public init(
        messagesPerSecond: Int = Limits.messagesPerSecond,
        channelMessagesPerSecond: Int = Limits.channelMessagesPerSecond
    ) {
        self.messagesPerSecond = Self.bring(messagesPerSecond)
        self.channelMessagesPerSecond = Self.bring(channelMessagesPerSecond)
    }

    private static func bring(_ limit: Int) -> Int { min(max(limit, range.lowerBound), range.upperBound) }
}
