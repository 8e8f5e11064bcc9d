internal import SignalingProtocol

/// The limits that an operator can set for an app.
///
/// A limit is a property, a line in ``all``, and an option of `heliographctl app limit`. Its column in PostgreSQL, its
/// field in commands and its place in listings follow from the line.
package struct AppLimits: Equatable, Sendable, FieldRecord {
    /// The largest number of channel messages of one session per second; the same applies to messages to users.
    @Narrow package var messagesPerSecond = Limits.messagesPerSecond
    /// The largest number of messages in one channel per second, in the whole cluster, unless `_sendmsg_limit`
    /// overrides it.
    @Narrow package var channelMessagesPerSecond = Limits.channelMessagesPerSecond
    /// The largest number of other acts of one session per second: everything but
    /// messages, attribute changes and polls.
    @Narrow package var actsPerSecond = Limits.actsPerSecond
    /// The largest number of attribute changes of one session per second.
    @Narrow package var attributeChangesPerSecond = Limits.attributeChangesPerSecond
    /// The largest number of attribute changes in one channel per second, in the whole cluster.
    @Narrow package var channelAttributeChangesPerSecond = Limits.channelAttributeChangesPerSecond
    /// The largest number of messages that wait for one user.
    @Narrow package var mailboxEntries = Limits.mailboxEntries
    /// The largest total size, in bytes, of messages that wait for one user.
    @Narrow package var mailboxBytes = Limits.mailboxBytes
    /// Whether clients may join the special channels, which announce logins and joins to the app's servers.
    package var specialChannelsOpen = true
    /// How the server API's streams of events tell of the app's messages; nil, the default, when they do not.
    package var streamedMessages: MessageDetail?

    /// The limits of an app whose operator has set none.
    package init() {}

    /// A limit in half of the memory, because every session has them. Larger values become the largest.
    @propertyWrapper
    package struct Narrow: Equatable, Sendable {
        private var stored: Int32

        package init(wrappedValue: Int) { stored = Int32(clamping: wrappedValue) }

        package var wrappedValue: Int {
            get { Int(stored) }
            set { stored = Int32(clamping: newValue) }
        }
    }

    /// All limits that are numbers.
    package static let all: [AppLimit] = [
        AppLimit("messagesPerSecond", wire: "rate", \.messagesPerSecond),
        AppLimit("channelMessagesPerSecond", wire: "channelRate", \.channelMessagesPerSecond),
        AppLimit("actsPerSecond", \.actsPerSecond),
        AppLimit("attributeChangesPerSecond", \.attributeChangesPerSecond),
        AppLimit("channelAttributeChangesPerSecond", \.channelAttributeChangesPerSecond),
        AppLimit("mailboxEntries", range: 100...1_000_000, \.mailboxEntries),
        AppLimit("mailboxBytes", range: 65_536...1 << 30, \.mailboxBytes),
    ]

    /// The value of one of ``all``; a value that is set is clamped to the limit's range.
    package subscript(limit: AppLimit) -> Int {
        get { self[keyPath: limit.property] }
        set { self[keyPath: limit.property] = min(max(newValue, limit.range.lowerBound), limit.range.upperBound) }
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init()
        for limit in AppLimits.all {
            self[limit] = try fields.field(limit.wire, limit.property, standard: limit.standard)
        }
        specialChannelsOpen = try fields.field("specialOpen", \.specialChannelsOpen, standard: specialChannelsOpen)
        streamedMessages = try fields.optional("streamedMessages", \.streamedMessages)
    }
}

/// One numeric limit of ``AppLimits``.
package struct AppLimit: Sendable {
    /// A rate per second that means no limit.
    package static let unlimited = 1_000_000

    /// The limit's name in the table `apps` and in listings.
    package let name: String
    /// The name of the limit's field in commands between services.
    package let wire: String
    /// The allowed values.
    package let range: ClosedRange<Int>
    /// The property of ``AppLimits`` that holds the limit.
    package let property: any Sendable & WritableKeyPath<AppLimits, Int>

    init(
        _ name: String, wire: String? = nil, range: ClosedRange<Int> = 1...unlimited,
        _ property: any Sendable & WritableKeyPath<AppLimits, Int>
    ) {
        self.name = name
        self.wire = wire ?? name
        self.range = range
        self.property = property
    }

    /// The default.
    package var standard: Int { AppLimits()[keyPath: property] }
}
