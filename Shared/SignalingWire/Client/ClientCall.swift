package import SignalingProtocol

/// A call of a function by a client, with validated arguments. Source: `Docs/protocol.md`, "Functions".
package struct ClientCall: Equatable, Sendable {
    /// Whether the call's `line` is that of the connection's session; other calls are refused.
    package var isOnItsLine: Bool
    /// The function and its arguments.
    package var act: Act
    /// The id that the client gave a message, at most ``messageIDBytes`` bytes. It makes a repeated send take effect
    /// once, for clients that take pushes; the old clients reuse ids, so theirs are ignored.
    package var messageID: String?

    /// Bytes of a message id; longer ones are ignored.
    package static let messageIDBytes = 64

    /// What a client can ask for, in groups by who does it.
    package enum Act: Equatable, Sendable {
        /// The gateway's session does it, in several steps.
        case session(SessionAct)
        /// A message to a user or a channel.
        case message(MessageAct)
        /// A service does it, and its reply is the answer.
        case service(ServiceAct)
    }

    /// What a session does in steps of its own.
    package enum SessionAct: Equatable, Sendable {
        /// `user_getmsg`: entries up to this version were processed; give at most `limit` more.
        case pollMailbox(verClear: Int64, limit: Int)
        /// `user_logout`.
        case logOut
        /// `channel_join`.
        case join(ChannelName)
        /// `channel_leave`.
        case leave(ChannelName)
    }

    /// A message.
    package enum MessageAct: Equatable, Sendable {
        /// `user_sendmsg`: the entry waits for so many seconds.
        case toUser(Account, seconds: Int, content: String)
        /// `channel_sendmsg`; `force` needs no membership.
        case toChannel(ChannelName, body: String, force: Bool)
    }

    /// What a service does.
    package enum ServiceAct: Equatable, Sendable {
        /// Concerns a user.
        case presence(PresenceAct)
        /// Asks about the members of a channel.
        case member(MemberAct)
        /// `channel_set_attr`, `channel_del_attr`, `channel_clear_attr`.
        case changeAttributes(ChannelName, AttributeChange)
        /// `voip_invite` and its like.
        case call(CallVerb, ChannelName, peer: Account, extra: String)
    }

    /// What concerns a user.
    package enum PresenceAct: Equatable, Sendable {
        /// `user_query_user_status`.
        case queryStatus(Account)
        /// `user_set_attr`.
        case setAttribute(Attribute)
        /// `user_get_attr`.
        case getAttribute(Account, AttributeName)
        /// `user_get_attr_all`.
        case listAttributes(Account)
    }

    /// A question about the members of a channel.
    package enum MemberAct: Equatable, Sendable {
        /// `channel_query_num`.
        case count(ChannelName)
        /// `channel_query_user_isin`.
        case query(ChannelName, Account)
        /// `channel_query_userlist`, `channel_query_userlist_all`: the latest `limit`.
        case list(ChannelName, limit: Int)
    }

    /// Checks a call.
    /// - Throws: `SignalingError`: ``SignalingCode/wrongParameter``, ``SignalingCode/largeParameter`` or
    ///   ``SignalingCode/invalidUser`` for bad arguments, ``SignalingCode/unknown`` (`unknown_function`) for a function
    ///   that does not exist, ``SignalingCode/notLoggedIn`` without a line.
    init(_ function: String, _ arguments: CallArguments, line: String) throws(SignalingError) {
        guard arguments.isObject else {
            throw SignalingError(.wrongParameter, .invalidArguments, "the arguments must be an object")
        }
        act = try Act(function, arguments)
        guard let isOnItsLine = arguments.matches(line: line) else {
            throw SignalingError(.notLoggedIn, .badLine, "the line is missing")
        }
        self.isOnItsLine = isOnItsLine
        messageID = arguments.messageID
    }
}

extension ClientCall.Act {
    init(_ function: String, _ arguments: CallArguments) throws(SignalingError) {
        switch function {
        case "user_getmsg":
            self = .session(.pollMailbox(verClear: arguments.verClear, limit: arguments.pageLimit))
        case "user_sendmsg": self = .message(try .toUser(arguments))
        case "user_logout": self = .session(.logOut)
        case "user_query_user_status":
            self = .service(.presence(.queryStatus(try arguments.account("account"))))
        case "user_set_attr": self = .service(.presence(.setAttribute(try arguments.attribute())))
        case "user_get_attr":
            let account = try arguments.account("account")
            self = .service(.presence(.getAttribute(account, try arguments.attributeName())))
        case "user_get_attr_all":
            self = .service(.presence(.listAttributes(try arguments.account("account"))))
        case "channel_join": self = .session(.join(try arguments.newChannel("name")))
        case "channel_leave": self = .session(.leave(try arguments.channel("name")))
        case "channel_sendmsg": self = .message(try .toChannel(arguments))
        case "channel_set_attr":
            let channel = try arguments.newChannel("channel")
            self = .service(.changeAttributes(channel, .update(try arguments.attribute())))
        case "channel_del_attr":
            let channel = try arguments.channel("channel")
            self = .service(.changeAttributes(channel, .delete(try arguments.attributeName())))
        case "channel_clear_attr":
            self = .service(.changeAttributes(try arguments.channel("channel"), .clear))
        case "channel_query_num": self = .service(.member(.count(try arguments.channel("name"))))
        case "channel_query_user_isin":
            self = .service(.member(.query(try arguments.channel("name"), try arguments.account("account"))))
        case "channel_query_userlist":
            self = .service(.member(.list(try arguments.channel("name"), limit: Limits.userListLatest)))
        case "channel_query_userlist_all":
            self = .service(.member(.list(try arguments.channel("name"), limit: try arguments.listLimit())))
        default: self = .service(try .call(function, arguments))
        }
    }

    /// The function's name and whom or what it is about, for people: without texts and values.
    package var summary: String {
        switch self {
        case .session(.pollMailbox(let version, _)): "user_getmsg after \(version)"
        case .session(.logOut): "user_logout"
        case .session(.join(let channel)): "channel_join \(channel)"
        case .session(.leave(let channel)): "channel_leave \(channel)"
        case .message(.toUser(let account, _, _)): "user_sendmsg to \(account)"
        case .message(.toChannel(let channel, _, _)): "channel_sendmsg to \(channel)"
        case .service(.presence(.queryStatus(let account))): "user_query_user_status of \(account)"
        case .service(.presence(.setAttribute(let attribute))): "user_set_attr \(attribute.name)"
        case .service(.presence(.getAttribute(let account, let name))): "user_get_attr \(name) of \(account)"
        case .service(.presence(.listAttributes(let account))): "user_get_attr_all of \(account)"
        case .service(.member(.count(let channel))): "channel_query_num of \(channel)"
        case .service(.member(.query(let channel, let account))): "channel_query_user_isin \(account) in \(channel)"
        case .service(.member(.list(let channel, _))): "channel_query_userlist of \(channel)"
        case .service(.changeAttributes(let channel, .update(let attribute))):
            "channel_set_attr \(attribute.name) of \(channel)"
        case .service(.changeAttributes(let channel, .delete(let name))): "channel_del_attr \(name) of \(channel)"
        case .service(.changeAttributes(let channel, .clear)): "channel_clear_attr of \(channel)"
        case .service(.call(let verb, let channel, let peer, _)): "\(verb.rawValue) \(channel), \(peer)"
        }
    }

    /// Whether a message is sent, to a user or a channel.
    package var isMessage: Bool { if case .message = self { true } else { false } }
}

extension ClientCall.MessageAct {
    fileprivate static func toUser(_ arguments: CallArguments) throws(SignalingError) -> Self {
        .toUser(
            try arguments.newAccount("peer"), seconds: try arguments.seconds(),
            content: try arguments.instantContent())
    }

    fileprivate static func toChannel(_ arguments: CallArguments) throws(SignalingError) -> Self {
        .toChannel(
            try arguments.newChannel("name"), body: try arguments.body("msg"), force: arguments.isTrue("force"))
    }
}

extension ClientCall.ServiceAct {
    fileprivate static func call(_ function: String, _ arguments: CallArguments) throws(SignalingError) -> Self {
        guard let verb = CallVerb(rawValue: function) else {
            throw SignalingError(.unknown, .unknownFunction, "there is no such function")
        }
        let begins = verb == .invite
        return .call(
            verb, try begins ? arguments.newChannel("channelName") : arguments.channel("channelName"),
            peer: try begins ? arguments.newAccount("peer") : arguments.account("peer"),
            extra: try arguments.extra(mustBeJSON: begins))
    }
}
