internal import SignalingProtocol
internal import SignalingWire

/// Calls: invitations to a channel. Source: wire protocol, section 7.
extension SignalingClient {
    /// Invites a user, or a phone number, to a channel. What comes of it are events.
    /// - Parameter extra: empty, or JSON; `_timeout`, `_require_peer_online` and others are read by the system.
    /// - Throws: `SignalingError`: 701 while an invitation of that callee to that channel is pending, 702, 1004, 1005.
    public func invite(_ account: String, to channel: String, extra: String = "") async throws(SignalingError) {
        try await act("voip_invite", account, channel, extra)
    }

    /// Accepts an invitation.
    /// - Throws: `SignalingError`.
    public func accept(_ account: String, in channel: String, extra: String = "") async throws(SignalingError) {
        try await act("voip_invite_accept", account, channel, extra)
    }

    /// Refuses an invitation.
    /// - Throws: `SignalingError`.
    public func refuse(_ account: String, in channel: String, extra: String = "") async throws(SignalingError) {
        try await act("voip_invite_refuse", account, channel, extra)
    }

    /// Ends a call, also before the answer.
    /// - Throws: `SignalingError`.
    public func endCall(with account: String, in channel: String, extra: String = "") async throws(SignalingError) {
        try await act("voip_invite_bye", account, channel, extra)
    }

    /// Sends DTMF digits within a call.
    /// - Throws: `SignalingError`: 1004 for others than 0-9, *, #, A-D.
    public func sendDTMF(_ digits: String, to account: String, in channel: String) async throws(SignalingError) {
        try await act("voip_invite_msg", account, channel, Self.dtmf(digits))
    }

    private func act(
        _ verb: String, _ account: String, _ channel: String, _ extra: String
    ) async throws(SignalingError) {
        _ = try await call(verb, Self.callArguments(channel: channel, peer: account, extra: extra))
    }

    // MARK: - Arguments

    static func callArguments(channel: String, peer: String, extra: String) -> [JSONMember] {
        [
            JSONMember("channelName", .string(channel)), JSONMember("peer", .string(peer)),
            JSONMember("extra", .string(extra)),
        ]
    }

    static func dtmf(_ digits: String) -> String {
        JSONValue.object([JSONMember("msgtype", .string("dtmf")), JSONMember("msgdata", .string(digits))]).compactText
    }
}
