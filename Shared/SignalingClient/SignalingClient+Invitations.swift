internal import SignalingProtocol
package import SignalingWire

/// Calls: invitations to a channel. Source: `Docs/protocol.md`, "Events of calls".
extension SignalingClient {
    /// Invites a user, or a telephone, to a channel. The progress is reported by ``SignalingEvent/call(_:)``.
    /// - Parameters:
    ///   - account: the callee's account, or a phone number.
    ///   - channel: the channel's name; nobody needs to be in it.
    ///   - extra: JSON for the callee, at most 8192 bytes, or empty (the default). Among its members, the system reads
    ///     `_timeout` (seconds, 0 to 30) and `_require_peer_online` (1: fail at once when the callee is offline).
    /// - Throws: `SignalingError`: 701 while an invitation of that callee to that channel is pending, 702 when no
    ///   answer came in time, 1003, 1004, 1005.
    public func invite(_ account: String, to channel: String, extra: String = "") async throws(SignalingError) {
        try await act("voip_invite", account, channel, extra)
    }

    /// Accepts an invitation. This does not join its channel.
    /// - Parameters:
    ///   - account: the caller.
    ///   - channel: the channel of the invitation.
    ///   - extra: a text for the caller, by convention JSON; default empty.
    /// - Throws: `SignalingError`: 1001 (`unknown_call`, `call_ended`) when the invitation does not exist any more,
    ///   1003, 1004, 1005.
    public func accept(_ account: String, in channel: String, extra: String = "") async throws(SignalingError) {
        try await act("voip_invite_accept", account, channel, extra)
    }

    /// Refuses an invitation. The parameters are those of ``accept(_:in:extra:)``.
    /// - Throws: `SignalingError`: 1001 (`unknown_call`, `call_ended`) when the invitation does not exist any more,
    ///   1003, 1004, 1005.
    public func refuse(_ account: String, in channel: String, extra: String = "") async throws(SignalingError) {
        try await act("voip_invite_refuse", account, channel, extra)
    }

    /// Ends a call, or withdraws an invitation that is not answered yet.
    /// - Throws: `SignalingError`: 1001 (`unknown_call`, `call_ended`) when the call does not exist any more, 1003,
    ///   1004, 1005.
    public func endCall(with account: String, in channel: String, extra: String = "") async throws(SignalingError) {
        try await act("voip_invite_bye", account, channel, extra)
    }

    /// Sends DTMF digits within a call. They are not sent again after a lost connection, because sending them twice is
    /// worse than not at all.
    /// - Parameters:
    ///   - digits: 0 to 9, `*`, `#`, A to D, and the comma for a pause.
    ///   - account: the other party: an account, or a phone number.
    ///   - channel: the channel of the call.
    /// - Throws: `SignalingError`: 1001 (`unknown_call`, `call_ended`; `interrupted` when the connection was lost
    ///   before the answer), 1003, 1004 for other digits.
    public func sendDTMF(_ digits: String, to account: String, in channel: String) async throws(SignalingError) {
        try await act("voip_invite_msg", account, channel, Self.dtmf(digits))
    }

    private func act(
        _ verb: String, _ account: String, _ channel: String, _ extra: String
    ) async throws(SignalingError) {
        _ = try await call(verb, Self.callArguments(channel: channel, peer: account, extra: extra))
    }

    // MARK: - Arguments

    /// The arguments of the functions for calls.
    package static func callArguments(channel: String, peer: String, extra: String) -> [JSONMember] {
        [
            JSONMember("channelName", channel), JSONMember("peer", peer),
            JSONMember("extra", extra),
        ]
    }

    /// The `extra` of a message with digits.
    package static func dtmf(_ digits: String) -> String {
        JSONValue.object([JSONMember("msgtype", "dtmf"), JSONMember("msgdata", digits)]).compactText
    }
}
