internal import ArgumentParser
internal import BusProtocol
internal import SignalingProtocol

/// The options for an app's limits. Limits that are not given keep their values; a new app gets the defaults.
struct LimitOptions: ParsableArguments {
    enum SpecialChannels: String, ExpressibleByArgument, CaseIterable {
        case open
        case closed
    }

    enum ToldMessages: String, ExpressibleByArgument, CaseIterable {
        case none
        case withoutText = "without-text"
        case withText = "with-text"
    }

    @Option(help: "Channel messages of one session a second, and as many instant messages; 1000000: no limit.")
    var messagesPerSecond: Int?

    @Option(help: "Messages of one channel a second; 1000000: no limit.")
    var channelMessagesPerSecond: Int?

    @Option(help: "Other calls of one session a second (queries, joins, invitations); 1000000: no limit.")
    var actsPerSecond: Int?

    @Option(help: "Attribute changes of one session a second; 1000000: no limit.")
    var attributeChangesPerSecond: Int?

    @Option(help: "Attribute changes of one channel a second; 1000000: no limit.")
    var channelAttributeChangesPerSecond: Int?

    @Option(help: "Most messages that wait for one user; once half full, each sender may have a quarter.")
    var mailboxEntries: Int?

    @Option(help: "Most bytes of messages that wait for one user, likewise.")
    var mailboxBytes: Int?

    @Option(help: "Whether clients may join the special channels, which announce logins and joins.")
    var specialChannels: SpecialChannels?

    @Option(help: "Whether the server API's streams of events tell of messages, and with their texts.")
    var messageEvents: ToldMessages?

    private var changes: [(limit: AppLimit, value: Int)] {
        let options = [
            "messagesPerSecond": messagesPerSecond, "channelMessagesPerSecond": channelMessagesPerSecond,
            "actsPerSecond": actsPerSecond, "attributeChangesPerSecond": attributeChangesPerSecond,
            "channelAttributeChangesPerSecond": channelAttributeChangesPerSecond,
            "mailboxEntries": mailboxEntries, "mailboxBytes": mailboxBytes,
        ]
        return AppLimits.all.compactMap { limit in
            guard let option = options[limit.name] else { preconditionFailure("\(limit.name) has no option") }
            return option.map { (limit, $0) }
        }
    }

    func validate() throws {
        for (limit, value) in changes where !limit.range.contains(value) {
            throw ValidationError(
                "\(limit.name) must be \(limit.range.lowerBound)...\(limit.range.upperBound)")
        }
    }

    /// Sets the limits that were given.
    func apply(to limits: inout AppLimits) {
        for (limit, value) in changes { limits[limit] = value }
        if let specialChannels { limits.specialChannelsOpen = specialChannels == .open }
        if let messageEvents { limits.streamedMessages = MessageDetail(rawValue: messageEvents.rawValue) }
    }
}
