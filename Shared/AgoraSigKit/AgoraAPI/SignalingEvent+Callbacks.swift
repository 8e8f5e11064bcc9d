internal import CAgoraEcode
internal import SignalingClient
internal import SignalingProtocol

/// Turns an event into callbacks.
extension SignalingEvent {
    typealias Callback = @Sendable (AgoraCallbackTable) -> Void

    /// The state of the session just before the event.
    struct PriorState {
        var channel: String?
        var isLoggingOut: Bool
    }

    /// The callbacks to call, in order.
    func callbacks(_ prior: PriorState) -> [Callback] {
        switch self {
        case .loggedIn(let uid): [{ $0.onLoginSuccess?(uid, 1) }]
        case .loginFailed(let error):
            [{ $0.onLoginFailed?(error.code.ecode(within: 200...209, else: .LOGIN_E_FAILED)) }]
                // A logout is also answered when it has ended a login that then failed.
                + (prior.isLoggingOut ? [{ $0.onLogout?(.LOGOUT_E_USER) }] : [])
        case .reconnecting(let attempt): [{ $0.onReconnecting?(UInt32(attempt)) }]
        case .reconnected: [{ $0.onReconnected?(1) }]
        case .loggedOut(let error): Self.loggedOut(error.code, prior.channel)
        case .message(let message): [{ $0.onMessageInstantReceive?(message.account, 0, message.text) }]
        case .channelMessage(let channel, let account, let uid, let text):
            [{ $0.onMessageChannelReceive?(channel, account, uid, text) }]
        case .memberJoined(_, let account, let uid): [{ $0.onChannelUserJoined?(account, uid) }]
        case .memberLeft(_, let account, let uid): [{ $0.onChannelUserLeaved?(account, uid) }]
        case .channelAttribute(let channel, _, _, let change): [Self.attribute(change, channel)]
        case .channelLeft(let channel, let code): [{ $0.onChannelLeaved?(channel, code.ecode) }]
        case .call(let call): [Self.call(call)]
        }
    }

    /// The event as a line of the log.
    var logText: String {
        switch self {
        case .loggedIn(let uid): "logged in: uid \(uid)"
        case .loginFailed(let error): "login failed: \(error)"
        case .reconnecting(let attempt): "reconnecting: attempt \(attempt)"
        case .reconnected(let complete): "reconnected\(complete ? "" : ", channel events may be missing")"
        case .loggedOut(let error): "logged out: \(error)"
        case .message, .channelMessage, .memberJoined, .memberLeft, .channelAttribute, .channelLeft, .call: "event"
        }
    }

    private static func loggedOut(_ code: SignalingCode, _ channel: String?) -> [Callback] {
        var told: [Callback] = []
        if let channel {
            let left: AgoraEcode =
                switch code {
                case .logoutUser: .LEAVECHANNEL_E_LOGOUT
                case .logoutKicked: .LEAVECHANNEL_E_KICKED
                default: .LEAVECHANNEL_E_DISCONN
                }
            told.append { $0.onChannelLeaved?(channel, left) }
        }
        told.append { $0.onLogout?(code.ecode(within: 100...108, else: .LOGOUT_E_OTHER)) }
        return told
    }

    private static func attribute(_ change: ChannelAttributeChange, _ channel: String) -> Callback {
        switch change {
        case .update(let name, let value): { $0.onChannelAttrUpdated?(channel, name, value, "update") }
        case .delete(let name): { $0.onChannelAttrUpdated?(channel, name, "", "del") }
        case .clear: { $0.onChannelAttrUpdated?(channel, "", "", "clear") }
        }
    }

    private static func call(_ call: CallEvent) -> Callback {
        switch call.kind {
        case .invited: { $0.onInviteReceived?(call.channel, call.peer, call.uid, call.extra) }
        case .delivered: { $0.onInviteReceivedByPeer?(call.channel, call.peer, call.uid) }
        case .accepted: { $0.onInviteAcceptedByPeer?(call.channel, call.peer, call.uid, call.extra) }
        case .refused: { $0.onInviteRefusedByPeer?(call.channel, call.peer, call.uid, call.extra) }
        case .ended: { $0.onInviteEndByPeer?(call.channel, call.peer, call.uid, call.extra) }
        case .failed(let code): { $0.onInviteFailed?(call.channel, call.peer, call.uid, code.ecode, call.extra) }
        case .message(let type, let data):
            { $0.onInviteMsg?(call.channel, call.peer, call.uid, type, data, call.extra) }
        }
    }
}
