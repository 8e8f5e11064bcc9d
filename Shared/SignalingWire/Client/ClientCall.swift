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

    /// What a client can ask for.
    package enum Act: Equatable, Sendable {
        /// `user_getmsg`: entries up to this version were processed; give at most `limit` more.
        case pollMailbox(verClear: Int64, limit: Int)
        /// `user_sendmsg`: the entry waits for so many seconds.
        case sendMessage(to: Account, seconds: Int, content: String)
        /// `user_logout`.
        case logOut
        /// `user_query_user_status`.
        case queryStatus(Account)
        /// `user_set_attr`.
        case setAttribute(Attribute)
        /// `user_get_attr`.
        case getAttribute(Account, AttributeName)
        /// `user_get_attr_all`.
        case listAttributes(Account)
        /// `channel_join`.
        case join(ChannelName)
        /// `channel_leave`.
        case leave(ChannelName)
        /// `channel_sendmsg`; `force` needs no membership.
        case sendChannelMessage(ChannelName, body: String, force: Bool)
        /// `channel_set_attr`, `channel_del_attr`, `channel_clear_attr`.
        case changeAttributes(ChannelName, AttributeChange)
        /// `channel_query_num`.
        case countMembers(ChannelName)
        /// `channel_query_user_isin`.
        case queryMember(ChannelName, Account)
        /// `channel_query_userlist`, `channel_query_userlist_all`: the latest `limit`.
        case listMembers(ChannelName, limit: Int)
        /// `voip_invite` and its like.
        case call(CallVerb, ChannelName, peer: Account, extra: String)
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
            self = .pollMailbox(verClear: arguments.verClear, limit: arguments.pageLimit)
        case "user_sendmsg":
            self = .sendMessage(
                to: try arguments.newAccount("peer"), seconds: try arguments.seconds(),
                content: try arguments.instantContent())
        case "user_logout": self = .logOut
        case "user_query_user_status": self = .queryStatus(try arguments.account("account"))
        case "user_set_attr": self = .setAttribute(try arguments.attribute())
        case "user_get_attr":
            self = .getAttribute(try arguments.account("account"), try arguments.attributeName())
        case "user_get_attr_all": self = .listAttributes(try arguments.account("account"))
        case "channel_join": self = .join(try arguments.newChannel("name"))
        case "channel_leave": self = .leave(try arguments.channel("name"))
        case "channel_sendmsg":
            self = .sendChannelMessage(
                try arguments.newChannel("name"), body: try arguments.body("msg"), force: arguments.isTrue("force"))
        case "channel_set_attr":
            self = .changeAttributes(try arguments.newChannel("channel"), .update(try arguments.attribute()))
        case "channel_del_attr":
            self = .changeAttributes(try arguments.channel("channel"), .delete(try arguments.attributeName()))
        case "channel_clear_attr": self = .changeAttributes(try arguments.channel("channel"), .clear)
        case "channel_query_num": self = .countMembers(try arguments.channel("name"))
        case "channel_query_user_isin":
            self = .queryMember(try arguments.channel("name"), try arguments.account("account"))
        case "channel_query_userlist":
            self = .listMembers(try arguments.channel("name"), limit: Limits.userListLatest)
        case "channel_query_userlist_all":
            self = .listMembers(try arguments.channel("name"), limit: try arguments.listLimit())
        default:
            guard let verb = CallVerb(rawValue: function) else {
                throw SignalingError(.unknown, .unknownFunction, "there is no such function")
            }
            self = try Self.call(verb, arguments)
        }
    }

    private static func call(_ verb: CallVerb, _ arguments: CallArguments) throws(SignalingError) -> Self {
        let begins = verb == .invite
        return .call(
            verb, try begins ? arguments.newChannel("channelName") : arguments.channel("channelName"),
            peer: try begins ? arguments.newAccount("peer") : arguments.account("peer"),
            extra: try arguments.extra(mustBeJSON: begins))
    }

    /// Whether a message is sent, to a user or a channel.
    package var isMessage: Bool {
        switch self {
        case .sendMessage, .sendChannelMessage: true
        case .pollMailbox, .logOut, .queryStatus, .setAttribute, .getAttribute, .listAttributes, .join, .leave,
            .changeAttributes, .countMembers, .queryMember, .listMembers, .call:
            false
        }
    }
}
