internal import BusProtocol
package import SignalingProtocol
internal import SignalingWire

/// Messages, one or many at once.
extension APIOperation {
    static let messages: [APIOperation] = [
        APIOperation(
            "sendMessage", "POST /v1/apps/{app}/users/{account}/messages", .key(.send), .body(),
            act: APIArguments.sendMessage),
        APIOperation(
            "sendChannelMessage", "POST /v1/apps/{app}/channels/{channel}/messages", .key(.send), .body(),
            act: APIArguments.sendChannelMessage),
        APIOperation(
            "sendMessages", "POST /v1/apps/{app}/messages", .key(.send), .body(upTo: largestBody),
            act: APIArguments.sendMessages),
        APIOperation(
            "broadcast", "POST /v1/apps/{app}/broadcasts", .key(.send), .body(upTo: largestBody),
            act: APIArguments.broadcast),
    ]
}

extension APIAct {
    package enum Messages: Equatable, Sendable {
        case send(OutgoingMessage)
        /// Messages whose outcomes are reported one by one.
        case sendAll([OutgoingMessage])
    }

    /// Messages of one call at most.
    package static let messagesBound = 1000
}

/// A message that an app's server sends.
package struct OutgoingMessage: Equatable, Sendable {
    package enum Receiver: Equatable, Sendable {
        /// A user, for whom the message waits for so many seconds at most.
        case user(Account, seconds: Int)
        case channel(ChannelName)
    }

    package var app: AppID
    /// The account that the receivers see as the sender. It need not be logged in, nor a member of the channel.
    package var sender: Account
    package var receiver: Receiver
    /// Up to ``Limits/messageBytes`` bytes.
    package var text: String
}

extension APIArguments {
    fileprivate func sendMessage() throws(APIProblem) -> APIAct {
        let app = try app()
        let fields = try fields("from", "message", "ttl")
        let receiver = OutgoingMessage.Receiver.user(try newAccount(), seconds: try Self.seconds(fields))
        return .messages(.send(try Self.message(fields, to: receiver, in: app)))
    }

    fileprivate func sendChannelMessage() throws(APIProblem) -> APIAct {
        let app = try app()
        let fields = try fields("from", "message")
        return .messages(.send(try Self.message(fields, to: .channel(try newChannel().name), in: app)))
    }

    /// Any messages.
    fileprivate func sendMessages() throws(APIProblem) -> APIAct {
        let app = try app()
        let fields = try fields("items")
        var messages: [OutgoingMessage] = []
        for (index, item) in try fields.list("items", count: 1...APIAct.messagesBound).enumerated() {
            messages.append(try Self.item(item, at: "items[\(index)]", in: app))
        }
        return .messages(.sendAll(messages))
    }

    /// The same message to several users.
    fileprivate func broadcast() throws(APIProblem) -> APIAct {
        let app = try app()
        let fields = try fields("from", "message", "ttl", "users")
        let seconds = try Self.seconds(fields)
        let (sender, text) = (try fields.newAccount("from"), try Self.text(fields))
        var messages: [OutgoingMessage] = []
        for (index, user) in try fields.list("users", count: 1...APIAct.messagesBound).enumerated() {
            let account = try APIFields.newAccount(user, at: "users[\(index)]")
            messages.append(
                OutgoingMessage(app: app, sender: sender, receiver: .user(account, seconds: seconds), text: text))
        }
        return .messages(.sendAll(messages))
    }

    private static func item(
        _ value: JSONValue, at place: String, in app: AppID
    ) throws(APIProblem) -> OutgoingMessage {
        let fields = try APIFields(value, at: place, known: ["user", "channel", "from", "message", "ttl"])
        guard fields.has("user") != fields.has("channel") else {
            throw APIProblem.invalid(place, "an object with either user or channel")
        }
        guard fields.has("channel") else {
            let receiver = OutgoingMessage.Receiver.user(
                try fields.newAccount("user"), seconds: try seconds(fields))
            return try message(fields, to: receiver, in: app)
        }
        let at = fields.place(of: "channel")
        guard let name = fields["channel"]?.string else { throw APIProblem.invalid(at, "a string") }
        guard !fields.has("ttl") else {
            throw APIProblem.invalid(fields.place(of: "ttl"), "absent: a channel's message does not wait")
        }
        return try message(fields, to: .channel(try APINames.newChannel(name, at: at)), in: app)
    }

    private static func message(
        _ fields: APIFields, to receiver: OutgoingMessage.Receiver, in app: AppID
    ) throws(APIProblem) -> OutgoingMessage {
        OutgoingMessage(app: app, sender: try fields.newAccount("from"), receiver: receiver, text: try text(fields))
    }

    private static func text(_ fields: APIFields) throws(APIProblem) -> String {
        try fields.text("message", bytes: 0...Limits.messageBytes)
    }

    private static func seconds(_ fields: APIFields) throws(APIProblem) -> Int {
        try fields.integer("ttl", in: 0...Limits.messageTimeToLive, standard: Limits.messageTimeToLive)
    }
}
