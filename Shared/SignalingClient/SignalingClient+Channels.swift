internal import SignalingProtocol
package import SignalingWire

/// A member of a channel.
public struct ChannelMember: Sendable, Hashable {
    /// The user's account.
    public var account: String
    /// The account's numeric id within its app.
    public var uid: UInt32

    /// Creates a member, for an app's own tests and previews.
    public init(account: String, uid: UInt32) {
        self.account = account
        self.uid = uid
    }
}

/// Channels: a user is in one at a time. Source: `Docs/protocol.md`, "Functions" and "Events of a channel".
extension SignalingClient {
    /// The state of a channel at the time of joining it.
    public struct JoinedChannel: Sendable, Equatable {
        /// The latest 200 members, newest first, this user included.
        public var members: [ChannelMember]
        /// The channel's attributes, values by name.
        public var attributes: [String: String]
    }

    /// Joins a channel and leaves the one that the user was in. The channel's events then arrive in ``events``.
    /// - Parameter channel: 1 to 128 bytes without control characters; a channel is created by its first member.
    /// - Throws: `SignalingError`: 300 when the channel could not be joined, 1003 without a login, 1004 for an invalid
    ///   name.
    @discardableResult
    public func join(_ channel: String) async throws(SignalingError) -> JoinedChannel {
        let answer = try await call("channel_join", [JSONMember("name", channel)])
        return JoinedChannel(members: answer["list"]?.members ?? [], attributes: answer["attrs"]?.texts ?? [:])
    }

    /// Leaves a channel.
    /// - Throws: `SignalingError`: 1001, 1003, 1004.
    public func leave(_ channel: String) async throws(SignalingError) {
        _ = try await call("channel_leave", [JSONMember("name", channel)])
    }

    /// Sends a message to a channel. All members, the sender included, receive the
    /// channel's messages in the same order.
    /// - Parameters:
    ///   - text: at most 8192 bytes.
    ///   - channel: the channel's name.
    ///   - force: whether to send even without being a member; default false.
    ///   - messageID: at most 64 bytes, different for each message. A message that is sent again with the same id
    ///     within a minute takes effect once. Default: random.
    /// - Throws: `SignalingError`: 400 (`not_member`, `rate_limited`...), 401 when no answer came in time, 1003, 1005
    ///   for a text that is too long.
    public func send(
        _ text: String, to channel: String, force: Bool = false, messageID: String? = nil
    ) async throws(SignalingError) {
        let id = messageID ?? Self.makeMessageID()
        _ = try await call("channel_sendmsg", Self.channelMessage(text, to: channel, force: force, id: id))
    }

    /// Sets an attribute of a channel.
    /// - Parameters:
    ///   - name: 1 to 128 bytes; names with a leading underscore are reserved for attributes that the system reads.
    ///   - value: at most 8096 bytes.
    ///   - channel: the channel's name.
    /// - Throws: `SignalingError`: 1001 (`rate_limited`...), 1003, 1004, 1005 for a value that is too long.
    public func setAttribute(_ name: String, _ value: String, of channel: String) async throws(SignalingError) {
        _ = try await call(
            "channel_set_attr",
            [
                JSONMember("channel", channel), JSONMember("name", name),
                JSONMember("value", value),
            ])
    }

    /// Deletes an attribute of a channel. It is no error if the attribute is not set.
    /// - Throws: `SignalingError`: 1001, 1003, 1004.
    public func deleteAttribute(_ name: String, of channel: String) async throws(SignalingError) {
        _ = try await call(
            "channel_del_attr", [JSONMember("channel", channel), JSONMember("name", name)])
    }

    /// Deletes all attributes of a channel.
    /// - Throws: `SignalingError`: 1001, 1003, 1004.
    public func clearAttributes(of channel: String) async throws(SignalingError) {
        _ = try await call("channel_clear_attr", [JSONMember("channel", channel)])
    }

    /// Returns the number of users in a channel; 0 when it does not exist.
    /// - Throws: `SignalingError`: 501 when no answer came in time, 1001, 1003, 1004.
    public func memberCount(of channel: String) async throws(SignalingError) -> Int {
        let answer = try await call("channel_query_num", [JSONMember("name", channel)])
        return Int(answer["num"]?.integer ?? 0)
    }

    /// Returns whether a user is in a channel.
    /// - Throws: `SignalingError`: 209 for an invalid account, 1001, 1003, 1004.
    public func isMember(_ account: String, of channel: String) async throws(SignalingError) -> Bool {
        let answer = try await call(
            "channel_query_user_isin", [JSONMember("name", channel), JSONMember("account", account)])
        return answer["isin"]?.isTrue ?? false
    }

    /// Returns the latest members of a channel, newest first, and the number of all members.
    /// - Parameters:
    ///   - channel: the channel's name.
    ///   - limit: the largest number of members to list, at most 50,000; nil (the default) for 200.
    /// - Throws: `SignalingError`: 1001, 1003, 1004.
    public func members(
        of channel: String, limit: Int? = nil
    ) async throws(SignalingError) -> (total: Int, members: [ChannelMember]) {
        var arguments = [JSONMember("name", channel)]
        if let limit { arguments.append(JSONMember("num", limit)) }
        let answer = try await call(limit == nil ? "channel_query_userlist" : "channel_query_userlist_all", arguments)
        return (Int(answer["num"]?.integer ?? 0), answer["list"]?.members ?? [])
    }

    // MARK: - Arguments

    /// The arguments of `channel_sendmsg`.
    package static func channelMessage(_ text: String, to channel: String, force: Bool, id: String) -> [JSONMember] {
        var arguments = [
            JSONMember("name", channel), JSONMember("msg", text),
            JSONMember("messageID", id),
        ]
        if force { arguments.append(JSONMember("force", true)) }
        return arguments
    }
}

extension JSONValue {
    /// The members from a list of `[account, uid]`.
    package var members: [ChannelMember] {
        guard case .array(let entries) = self else { return [] }
        return entries.compactMap { entry in
            guard case .array(let pair) = entry, pair.count >= 2, let account = pair[0].string else { return nil }
            return ChannelMember(account: account, uid: pair[1].integer.flatMap(UInt32.init(exactly:)) ?? 0)
        }
    }
}
