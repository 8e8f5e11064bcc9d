package import SignalingProtocol
internal import SignalingWire

/// How an app's messages are told as events.
package enum MessageDetail: String, CaseIterable, Equatable, Sendable, FieldValue {
    /// Who has sent how many bytes to whom.
    case withoutText = "without-text"
    /// Their texts too.
    case withText = "with-text"
}

/// Who is told of an app's messages.
package struct MessageEvents: Equatable, Sendable {
    /// Whether anybody is told their texts.
    package let withText: Bool
    /// How the server API's streams of events tell them; nil when they do not.
    package let stream: MessageDetail?

    /// Nil when nobody is told.
    package init?(webhook: MessageDetail?, stream: MessageDetail?) {
        guard webhook != nil || stream != nil else { return nil }
        withText = webhook == .withText || stream == .withText
        self.stream = stream
    }
}

/// A message, as a webhook tells it.
package struct WebhookMessage: Equatable, Sendable {
    /// Who gets a message.
    package enum Receiver: Equatable, Sendable {
        /// A user, who had a session when the message was sent, or not.
        case user(Account, isOnline: Bool)
        /// The members of a channel.
        case channel(ChannelName)
    }

    /// The account that has sent it.
    package var sender: Account
    /// Who gets it.
    package var receiver: Receiver
    /// Its number: the version of a user's mailbox, or the id in a channel.
    package var number: Int64
    /// The bytes of its text.
    package var size: Int
    /// Its text; nil when that is not told.
    package var text: String?

    package init(from sender: Account, to receiver: Receiver, number: Int64, size: Int, text: String?) {
        self.sender = sender
        self.receiver = receiver
        self.number = number
        self.size = size
        self.text = text
    }

    /// What tells it apart from others of the same microsecond. Neither accounts nor channels contain a line break.
    var name: String {
        switch receiver {
        case .user(let account, _): "\(sender)\n\(account)\n\(number)"
        case .channel(let channel): "\(sender)\n\n\(channel)\n\(number)"
        }
    }

    var members: [JSONMember] {
        var members = [JSONMember("account", sender.rawValue)]
        switch receiver {
        case .user(let account, let isOnline):
            members += [JSONMember("to", account.rawValue), JSONMember("online", .bool(isOnline))]
        case .channel(let channel): members.append(JSONMember("channel", channel.rawValue))
        }
        members += [JSONMember("message", number), JSONMember("size", size)]
        if let text { members.append(JSONMember("text", text)) }
        return members
    }
}
