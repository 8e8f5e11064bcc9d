// Names and types are those of the API.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, NeverUseImplicitlyUnwrappedOptionals

public import CAgoraEcode
public import Foundation

/// What an app wants to hear of; unset callbacks are skipped.
struct AgoraCallbackTable {
    var onReconnecting: ((UInt32) -> Void)?
    var onReconnected: ((Int32) -> Void)?
    var onLoginSuccess: ((UInt32, Int32) -> Void)?
    var onLogout: ((AgoraEcode) -> Void)?
    var onLoginFailed: ((AgoraEcode) -> Void)?
    var onChannelJoined: ((String?) -> Void)?
    var onChannelJoinFailed: ((String?, AgoraEcode) -> Void)?
    var onChannelLeaved: ((String?, AgoraEcode) -> Void)?
    var onChannelUserJoined: ((String?, UInt32) -> Void)?
    var onChannelUserLeaved: ((String?, UInt32) -> Void)?
    var onChannelUserList: ((NSMutableArray?, NSMutableArray?) -> Void)?
    var onChannelQueryUserNumResult: ((String?, AgoraEcode, Int32) -> Void)?
    var onChannelQueryUserIsIn: ((String?, String?, Int32) -> Void)?
    var onChannelAttrUpdated: ((String?, String?, String?, String?) -> Void)?
    var onInviteReceived: ((String?, String?, UInt32, String?) -> Void)?
    var onInviteReceivedByPeer: ((String?, String?, UInt32) -> Void)?
    var onInviteAcceptedByPeer: ((String?, String?, UInt32, String?) -> Void)?
    var onInviteRefusedByPeer: ((String?, String?, UInt32, String?) -> Void)?
    var onInviteFailed: ((String?, String?, UInt32, AgoraEcode, String?) -> Void)?
    var onInviteEndByPeer: ((String?, String?, UInt32, String?) -> Void)?
    var onInviteEndByMyself: ((String?, String?, UInt32) -> Void)?
    var onInviteMsg: ((String?, String?, UInt32, String?, String?, String?) -> Void)?
    var onMessageSendError: ((String?, AgoraEcode) -> Void)?
    var onMessageSendSuccess: ((String?) -> Void)?
    var onMessageInstantReceive: ((String?, UInt32, String?) -> Void)?
    var onMessageChannelReceive: ((String?, String?, UInt32, String?) -> Void)?
    var onLog: ((String?) -> Void)?
    var onInvokeRet: ((String?, String?, String?) -> Void)?
    var onQueryUserStatusResult: ((String?, String?) -> Void)?
    var onUserAttrResult: ((String?, String?, String?) -> Void)?
    var onUserAttrAllResult: ((String?, String?) -> Void)?
    var onError: ((String?, AgoraEcode, String?) -> Void)?
    var onMessageSendProgress: ((String?, String?, String?, String?) -> Void)?
    var onMessageAppReceived: ((String?) -> Void)?
    var onMsg: ((String?, String?, String?) -> Void)?
    var onDbg: ((String?, String?) -> Void)?
    var onBCCall_result: ((String?, String?, String?) -> Void)?
}

extension AgoraAPI {
    /// The connection is lost; the number counts the attempts to resume, from 1.
    public var onReconnecting: ((UInt32) -> Void)! {
        get { session.callbacks[\.onReconnecting] }
        set { session.callbacks[\.onReconnecting] = newValue }
    }

    /// The session goes on.
    public var onReconnected: ((Int32) -> Void)! {
        get { session.callbacks[\.onReconnected] }
        set { session.callbacks[\.onReconnected] = newValue }
    }

    /// Logged in: the account's number, and a number without meaning.
    public var onLoginSuccess: ((UInt32, Int32) -> Void)! {
        get { session.callbacks[\.onLoginSuccess] }
        set { session.callbacks[\.onLoginSuccess] = newValue }
    }

    /// Logged out: 101 by the user, 102 network, 103 elsewhere, 105 token expired, 108 was not logged in.
    public var onLogout: ((AgoraEcode) -> Void)! {
        get { session.callbacks[\.onLogout] }
        set { session.callbacks[\.onLogout] = newValue }
    }

    /// The login failed for good: 201 ... 209.
    public var onLoginFailed: ((AgoraEcode) -> Void)! {
        get { session.callbacks[\.onLoginFailed] }
        set { session.callbacks[\.onLoginFailed] = newValue }
    }

    /// Joined: the channel.
    public var onChannelJoined: ((String?) -> Void)! {
        get { session.callbacks[\.onChannelJoined] }
        set { session.callbacks[\.onChannelJoined] = newValue }
    }

    /// Not joined: the channel, why.
    public var onChannelJoinFailed: ((String?, AgoraEcode) -> Void)! {
        get { session.callbacks[\.onChannelJoinFailed] }
        set { session.callbacks[\.onChannelJoinFailed] = newValue }
    }

    /// Left: the channel, why (602 by the user).
    public var onChannelLeaved: ((String?, AgoraEcode) -> Void)! {
        get { session.callbacks[\.onChannelLeaved] }
        set { session.callbacks[\.onChannelLeaved] = newValue }
    }

    /// Somebody joined: account, number.
    public var onChannelUserJoined: ((String?, UInt32) -> Void)! {
        get { session.callbacks[\.onChannelUserJoined] }
        set { session.callbacks[\.onChannelUserJoined] = newValue }
    }

    /// Somebody left: account, number.
    public var onChannelUserLeaved: ((String?, UInt32) -> Void)! {
        get { session.callbacks[\.onChannelUserLeaved] }
        set { session.callbacks[\.onChannelUserLeaved] = newValue }
    }

    /// After joining: the latest 200 accounts, and their numbers.
    public var onChannelUserList: ((NSMutableArray?, NSMutableArray?) -> Void)! {
        get { session.callbacks[\.onChannelUserList] }
        set { session.callbacks[\.onChannelUserList] = newValue }
    }

    /// Channel, code, number of users.
    public var onChannelQueryUserNumResult: ((String?, AgoraEcode, Int32) -> Void)! {
        get { session.callbacks[\.onChannelQueryUserNumResult] }
        set { session.callbacks[\.onChannelQueryUserNumResult] = newValue }
    }

    /// Channel, account, 1 or 0.
    public var onChannelQueryUserIsIn: ((String?, String?, Int32) -> Void)! {
        get { session.callbacks[\.onChannelQueryUserIsIn] }
        set { session.callbacks[\.onChannelQueryUserIsIn] = newValue }
    }

    /// Channel, name, value, `update`, `del` or `clear`.
    public var onChannelAttrUpdated: ((String?, String?, String?, String?) -> Void)! {
        get { session.callbacks[\.onChannelAttrUpdated] }
        set { session.callbacks[\.onChannelAttrUpdated] = newValue }
    }

    /// Invited: channel, account, number, extra.
    public var onInviteReceived: ((String?, String?, UInt32, String?) -> Void)! {
        get { session.callbacks[\.onInviteReceived] }
        set { session.callbacks[\.onInviteReceived] = newValue }
    }

    /// The invitation is there: channel, account, number.
    public var onInviteReceivedByPeer: ((String?, String?, UInt32) -> Void)! {
        get { session.callbacks[\.onInviteReceivedByPeer] }
        set { session.callbacks[\.onInviteReceivedByPeer] = newValue }
    }

    /// Accepted: channel, account, number, extra.
    public var onInviteAcceptedByPeer: ((String?, String?, UInt32, String?) -> Void)! {
        get { session.callbacks[\.onInviteAcceptedByPeer] }
        set { session.callbacks[\.onInviteAcceptedByPeer] = newValue }
    }

    /// Refused: channel, account, number, extra.
    public var onInviteRefusedByPeer: ((String?, String?, UInt32, String?) -> Void)! {
        get { session.callbacks[\.onInviteRefusedByPeer] }
        set { session.callbacks[\.onInviteRefusedByPeer] = newValue }
    }

    /// Failed: channel, account, number, code, extra.
    public var onInviteFailed: ((String?, String?, UInt32, AgoraEcode, String?) -> Void)! {
        get { session.callbacks[\.onInviteFailed] }
        set { session.callbacks[\.onInviteFailed] = newValue }
    }

    /// Ended by the peer: channel, account, number, extra.
    public var onInviteEndByPeer: ((String?, String?, UInt32, String?) -> Void)! {
        get { session.callbacks[\.onInviteEndByPeer] }
        set { session.callbacks[\.onInviteEndByPeer] = newValue }
    }

    /// Ended: channel, account, number.
    public var onInviteEndByMyself: ((String?, String?, UInt32) -> Void)! {
        get { session.callbacks[\.onInviteEndByMyself] }
        set { session.callbacks[\.onInviteEndByMyself] = newValue }
    }

    /// Within a call: channel, account, number, type (`dtmf`), data, extra.
    public var onInviteMsg: ((String?, String?, UInt32, String?, String?, String?) -> Void)! {
        get { session.callbacks[\.onInviteMsg] }
        set { session.callbacks[\.onInviteMsg] = newValue }
    }

    /// Not sent: message id, why.
    public var onMessageSendError: ((String?, AgoraEcode) -> Void)! {
        get { session.callbacks[\.onMessageSendError] }
        set { session.callbacks[\.onMessageSendError] = newValue }
    }

    /// Sent: message id.
    public var onMessageSendSuccess: ((String?) -> Void)! {
        get { session.callbacks[\.onMessageSendSuccess] }
        set { session.callbacks[\.onMessageSendSuccess] = newValue }
    }

    /// A message: account, 0, text.
    public var onMessageInstantReceive: ((String?, UInt32, String?) -> Void)! {
        get { session.callbacks[\.onMessageInstantReceive] }
        set { session.callbacks[\.onMessageInstantReceive] = newValue }
    }

    /// A channel message, one's own included: channel, account, number, text.
    public var onMessageChannelReceive: ((String?, String?, UInt32, String?) -> Void)! {
        get { session.callbacks[\.onMessageChannelReceive] }
        set { session.callbacks[\.onMessageChannelReceive] = newValue }
    }

    /// A line of the log; it begins with the Unix time in ten digits.
    public var onLog: ((String?) -> Void)! {
        get { session.callbacks[\.onLog] }
        set { session.callbacks[\.onLog] = newValue }
    }

    /// An `invoke` is answered: call id, error code (empty on success), JSON text.
    public var onInvokeRet: ((String?, String?, String?) -> Void)! {
        get { session.callbacks[\.onInvokeRet] }
        set { session.callbacks[\.onInvokeRet] = newValue }
    }

    /// Account, `1` online or `0` offline.
    public var onQueryUserStatusResult: ((String?, String?) -> Void)! {
        get { session.callbacks[\.onQueryUserStatusResult] }
        set { session.callbacks[\.onQueryUserStatusResult] = newValue }
    }

    /// Account, name, value.
    public var onUserAttrResult: ((String?, String?, String?) -> Void)! {
        get { session.callbacks[\.onUserAttrResult] }
        set { session.callbacks[\.onUserAttrResult] = newValue }
    }

    /// Account, JSON text of all attributes.
    public var onUserAttrAllResult: ((String?, String?) -> Void)! {
        get { session.callbacks[\.onUserAttrAllResult] }
        set { session.callbacks[\.onUserAttrAllResult] = newValue }
    }

    /// A call without a callback of its own failed: its name, code, description.
    public var onError: ((String?, AgoraEcode, String?) -> Void)! {
        get { session.callbacks[\.onError] }
        set { session.callbacks[\.onError] = newValue }
    }

    /// Never called; kept for the source of apps.
    public var onMessageSendProgress: ((String?, String?, String?, String?) -> Void)! {
        get { session.callbacks[\.onMessageSendProgress] }
        set { session.callbacks[\.onMessageSendProgress] = newValue }
    }

    /// Never called; kept for the source of apps.
    public var onMessageAppReceived: ((String?) -> Void)! {
        get { session.callbacks[\.onMessageAppReceived] }
        set { session.callbacks[\.onMessageAppReceived] = newValue }
    }

    /// Never called; kept for the source of apps.
    public var onMsg: ((String?, String?, String?) -> Void)! {
        get { session.callbacks[\.onMsg] }
        set { session.callbacks[\.onMsg] = newValue }
    }

    /// Never called; kept for the source of apps.
    public var onDbg: ((String?, String?) -> Void)! {
        get { session.callbacks[\.onDbg] }
        set { session.callbacks[\.onDbg] = newValue }
    }

    /// Never called; kept for the source of apps.
    public var onBCCall_result: ((String?, String?, String?) -> Void)! {
        get { session.callbacks[\.onBCCall_result] }
        set { session.callbacks[\.onBCCall_result] = newValue }
    }
}
