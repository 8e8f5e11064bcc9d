/// The limits that an operator can set for an app.
///
/// A limit is a property, a line in ``all``, and an option of `heliographctl app limit`: PostgreSQL, the wire between
/// services and the listings follow from the line.
package struct AppLimits: Equatable, Sendable {
    /// Channel messages of one session in a second, and as many instant messages.
    package var messagesPerSecond = Limits.messagesPerSecond
    /// Messages of one channel in a second, over the whole cluster, unless `_sendmsg_limit` says otherwise.
    package var channelMessagesPerSecond = Limits.channelMessagesPerSecond
    /// Other acts of one session in a second: neither messages nor attribute changes nor polls.
    package var actsPerSecond = Limits.actsPerSecond
    /// Attribute changes of one session in a second.
    package var attributeChangesPerSecond = Limits.attributeChangesPerSecond
    /// Attribute changes of one channel in a second, over the whole cluster.
    package var channelAttributeChangesPerSecond = Limits.channelAttributeChangesPerSecond
    /// Messages that wait for one user at most.
    package var mailboxEntries = Limits.mailboxEntries
    /// Bytes of messages that wait for one user at most.
    package var mailboxBytes = Limits.mailboxBytes
    /// Whether clients may join the special channels, which tell an app's servers who comes and goes.
    package var specialChannelsOpen = true

    /// The limits of an app whose operator has set none.
    package init() {}

    /// Every limit that is a number.
    package static let all: [AppLimit] = [
        AppLimit("messagesPerSecond", wire: "rate", \.messagesPerSecond),
        AppLimit("channelMessagesPerSecond", wire: "channelRate", \.channelMessagesPerSecond),
        AppLimit("actsPerSecond", \.actsPerSecond),
        AppLimit("attributeChangesPerSecond", \.attributeChangesPerSecond),
        AppLimit("channelAttributeChangesPerSecond", \.channelAttributeChangesPerSecond),
        AppLimit("mailboxEntries", range: 100...1_000_000, \.mailboxEntries),
        AppLimit("mailboxBytes", range: 65_536...1 << 30, \.mailboxBytes),
    ]

    /// The value of one of ``all``; a new value is clamped to the limit's range.
    package subscript(limit: AppLimit) -> Int {
        get { self[keyPath: limit.property] }
        set { self[keyPath: limit.property] = min(max(newValue, limit.range.lowerBound), limit.range.upperBound) }
    }
}

/// One number of ``AppLimits``.
package struct AppLimit: Sendable {
    /// A rate per second that counts as no limit.
    package static let unlimited = 1_000_000

    /// Its name in the table `apps` and in listings.
    package let name: String
    /// The name of its field in commands between services.
    package let wire: String
    /// The values that it may have.
    package let range: ClosedRange<Int>
    let property: any Sendable & WritableKeyPath<AppLimits, Int>

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
