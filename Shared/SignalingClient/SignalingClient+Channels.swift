internal import SignalingProtocol
internal import SignalingWire

/// Somebody in a channel.
public struct ChannelMember: Sendable, Hashable {
    /// Who.
    public var account: String
    /// The account's number.
    public var uid: UInt32

    /// Joins the two.
    public init(account: String, uid: UInt32) {
        self.account = account
        self.uid = uid
    }
}

/// Channels: a user is in one at a time. Source: wire protocol, sections 4 and 6.
extension SignalingClient {
    /// What a joiner learns.
    public struct JoinedChannel: Sendable, Equatable {
        /// The latest 200 members, newest first, oneself included.
        public var members: [ChannelMember]
        /// The channel's attributes.
        public var attributes: [String: String]
    }

    /// Joins a channel, leaving the one the user was in.
    /// - Throws: `SignalingError`.
    @discardableResult
    public func join(_ channel: String) async throws(SignalingError) -> JoinedChannel {
        let answer = try await call("channel_join", [JSONMember("name", .string(channel))])
        return JoinedChannel(members: answer["list"]?.members ?? [], attributes: answer["attrs"]?.texts ?? [:])
    }

    /// Leaves a channel.
    /// - Throws: `SignalingError`.
    public func leave(_ channel: String) async throws(SignalingError) {
        _ = try await call("channel_leave", [JSONMember("name", .string(channel))])
    }

    /// Sends a message to a channel; the sender gets it too.
    /// - Parameters:
    ///   - force: whether the sender need not be a member; default false.
    ///   - messageID: unique for each message; a message that is sent twice under one id within a minute is heard once.
    ///     Default: made up.
    /// - Throws: `SignalingError`: 400 (`not_member`, `rate_limited`), 401, 1005.
    public func send(
        _ text: String, to channel: String, force: Bool = false, messageID: String? = nil
    ) async throws(SignalingError) {
        let id = messageID ?? Self.makeMessageID()
        _ = try await call("channel_sendmsg", Self.channelMessage(text, to: channel, force: force, id: id))
    }

    /// Sets an attribute of a channel.
    /// - Throws: `SignalingError`: 1004, 1005, 1001 (`rate_limited`).
    public func setAttribute(_ name: String, _ value: String, of channel: String) async throws(SignalingError) {
        _ = try await call(
            "channel_set_attr",
            [
                JSONMember("channel", .string(channel)), JSONMember("name", .string(name)),
                JSONMember("value", .string(value)),
            ])
    }

    /// Deletes an attribute of a channel.
    /// - Throws: `SignalingError`.
    public func deleteAttribute(_ name: String, of channel: String) async throws(SignalingError) {
        _ = try await call(
            "channel_del_attr", [JSONMember("channel", .string(channel)), JSONMember("name", .string(name))])
    }

    /// Deletes all attributes of a channel.
    /// - Throws: `SignalingError`.
    public func clearAttributes(of channel: String) async throws(SignalingError) {
        _ = try await call("channel_clear_attr", [JSONMember("channel", .string(channel))])
    }

    /// How many users are in a channel.
    /// - Throws: `SignalingError`: 501.
    public func memberCount(of channel: String) async throws(SignalingError) -> Int {
        let answer = try await call("channel_query_num", [JSONMember("name", .string(channel))])
        return Int(answer["num"]?.integer ?? 0)
    }

    /// Whether a user is in a channel.
    /// - Throws: `SignalingError`.
    public func isMember(_ account: String, of channel: String) async throws(SignalingError) -> Bool {
        let answer = try await call(
            "channel_query_user_isin", [JSONMember("name", .string(channel)), JSONMember("account", .string(account))])
        return answer["isin"]?.isTrue ?? false
    }

    /// The latest members of a channel, and how many there are.
    /// - Parameter limit: how many of them; nil (the default) for 200.
    /// - Throws: `SignalingError`.
    public func members(
        of channel: String, limit: Int? = nil
    ) async throws(SignalingError) -> (total: Int, members: [ChannelMember]) {
        var arguments = [JSONMember("name", .string(channel))]
        if let limit { arguments.append(JSONMember("num", .number(String(limit)))) }
        let answer = try await call(limit == nil ? "channel_query_userlist" : "channel_query_userlist_all", arguments)
        return (Int(answer["num"]?.integer ?? 0), answer["list"]?.members ?? [])
    }

    // MARK: - Arguments

    static func channelMessage(_ text: String, to channel: String, force: Bool, id: String) -> [JSONMember] {
        var arguments = [
            JSONMember("name", .string(channel)), JSONMember("msg", .string(text)),
            JSONMember("messageID", .string(id)),
        ]
        if force { arguments.append(JSONMember("force", .bool(true))) }
        return arguments
    }
}

extension JSONValue {
    /// A list of `[account, uid]`.
    var members: [ChannelMember] {
        guard case .array(let entries) = self else { return [] }
        return entries.compactMap { entry in
            guard case .array(let pair) = entry, pair.count >= 2, let account = pair[0].string else { return nil }
            return ChannelMember(account: account, uid: pair[1].integer.flatMap(UInt32.init(exactly:)) ?? 0)
        }
    }
}
