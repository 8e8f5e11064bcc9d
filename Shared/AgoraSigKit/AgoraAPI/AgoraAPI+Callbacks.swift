// Names and types are those of the old framework's API.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, NeverUseImplicitlyUnwrappedOptionals

public import CAgoraEcode
public import Foundation
internal import SignalingClient

/// The callbacks that an app has set; those it has not set are skipped.
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
    /// The connection is lost and the session is being resumed on another gateway: the number of the attempt, from 1.
    public var onReconnecting: ((UInt32) -> Void)! {
        get { session.callbacks[\.onReconnecting] }
        set { session.callbacks[\.onReconnecting] = newValue }
    }

    /// The session has been resumed after a lost connection: a number without meaning.
    public var onReconnected: ((Int32) -> Void)! {
        get { session.callbacks[\.onReconnected] }
        set { session.callbacks[\.onReconnected] = newValue }
    }

    /// The login succeeded: the account's number within its app, and a number without meaning.
    public var onLoginSuccess: ((UInt32, Int32) -> Void)! {
        get { session.callbacks[\.onLoginSuccess] }
        set { session.callbacks[\.onLoginSuccess] = newValue }
    }

    /// The session has ended: 101 the user logged out, 102 the network failed, 103 the account logged in elsewhere, 105
    /// the token expired, 108 there was no login.
    public var onLogout: ((AgoraEcode) -> Void)! {
        get { session.callbacks[\.onLogout] }
        set { session.callbacks[\.onLogout] = newValue }
    }

    /// The login failed, and no further attempt is made: a code from 201 to 209.
    public var onLoginFailed: ((AgoraEcode) -> Void)! {
        get { session.callbacks[\.onLoginFailed] }
        set { session.callbacks[\.onLoginFailed] = newValue }
    }

    /// A channel was joined: its name.
    public var onChannelJoined: ((String?) -> Void)! {
        get { session.callbacks[\.onChannelJoined] }
        set { session.callbacks[\.onChannelJoined] = newValue }
    }

    /// A channel was not joined: its name, and why.
    public var onChannelJoinFailed: ((String?, AgoraEcode) -> Void)! {
        get { session.callbacks[\.onChannelJoinFailed] }
        set { session.callbacks[\.onChannelJoinFailed] = newValue }
    }

    /// The user has left the channel or was removed from it: its name, and the reason (602 left by the user, 601
    /// kicked, 603 logged out, 604 session lost).
    public var onChannelLeaved: ((String?, AgoraEcode) -> Void)! {
        get { session.callbacks[\.onChannelLeaved] }
        set { session.callbacks[\.onChannelLeaved] = newValue }
    }

    /// Another user has joined the channel: account, and number within the app.
    public var onChannelUserJoined: ((String?, UInt32) -> Void)! {
        get { session.callbacks[\.onChannelUserJoined] }
        set { session.callbacks[\.onChannelUserJoined] = newValue }
    }

    /// Another user has left the channel: account, and number within the app.
    public var onChannelUserLeaved: ((String?, UInt32) -> Void)! {
        get { session.callbacks[\.onChannelUserLeaved] }
        set { session.callbacks[\.onChannelUserLeaved] = newValue }
    }

    /// After ``onChannelJoined``: the latest 200 members as two lists, of accounts
    /// (`String`) and of their numbers (`Int`).
    public var onChannelUserList: ((NSMutableArray?, NSMutableArray?) -> Void)! {
        get { session.callbacks[\.onChannelUserList] }
        set { session.callbacks[\.onChannelUserList] = newValue }
    }

    /// Answers ``AgoraAPI/channelQueryUserNum(_:)``: channel, code (0 is success), number of users.
    public var onChannelQueryUserNumResult: ((String?, AgoraEcode, Int32) -> Void)! {
        get { session.callbacks[\.onChannelQueryUserNumResult] }
        set { session.callbacks[\.onChannelQueryUserNumResult] = newValue }
    }

    /// Answers ``AgoraAPI/channelQueryUserIs(in:account:)``: channel, account, 1 when the user is
    /// in the channel and 0 otherwise.
    public var onChannelQueryUserIsIn: ((String?, String?, Int32) -> Void)! {
        get { session.callbacks[\.onChannelQueryUserIsIn] }
        set { session.callbacks[\.onChannelQueryUserIsIn] = newValue }
    }

    /// An attribute of the channel changed: channel, name, value, and what happened: `update`, `del` or `clear`.
    public var onChannelAttrUpdated: ((String?, String?, String?, String?) -> Void)! {
        get { session.callbacks[\.onChannelAttrUpdated] }
        set { session.callbacks[\.onChannelAttrUpdated] = newValue }
    }

    /// Another user invites this one: channel, account, number, extra.
    public var onInviteReceived: ((String?, String?, UInt32, String?) -> Void)! {
        get { session.callbacks[\.onInviteReceived] }
        set { session.callbacks[\.onInviteReceived] = newValue }
    }

    /// This user's invitation has arrived: channel, account, number.
    public var onInviteReceivedByPeer: ((String?, String?, UInt32) -> Void)! {
        get { session.callbacks[\.onInviteReceivedByPeer] }
        set { session.callbacks[\.onInviteReceivedByPeer] = newValue }
    }

    /// This user's invitation was accepted: channel, account, number, extra.
    public var onInviteAcceptedByPeer: ((String?, String?, UInt32, String?) -> Void)! {
        get { session.callbacks[\.onInviteAcceptedByPeer] }
        set { session.callbacks[\.onInviteAcceptedByPeer] = newValue }
    }

    /// This user's invitation was refused: channel, account, number, extra.
    public var onInviteRefusedByPeer: ((String?, String?, UInt32, String?) -> Void)! {
        get { session.callbacks[\.onInviteRefusedByPeer] }
        set { session.callbacks[\.onInviteRefusedByPeer] = newValue }
    }

    /// This user's invitation failed: channel, account, number, code from 700 to 704, extra.
    public var onInviteFailed: ((String?, String?, UInt32, AgoraEcode, String?) -> Void)! {
        get { session.callbacks[\.onInviteFailed] }
        set { session.callbacks[\.onInviteFailed] = newValue }
    }

    /// The other party has ended the call: channel, account, number, extra.
    public var onInviteEndByPeer: ((String?, String?, UInt32, String?) -> Void)! {
        get { session.callbacks[\.onInviteEndByPeer] }
        set { session.callbacks[\.onInviteEndByPeer] = newValue }
    }

    /// This user has ended the call: channel, account, number.
    public var onInviteEndByMyself: ((String?, String?, UInt32) -> Void)! {
        get { session.callbacks[\.onInviteEndByMyself] }
        set { session.callbacks[\.onInviteEndByMyself] = newValue }
    }

    /// The other party has sent something within a call: channel, account, number, type
    /// (`dtmf` for digits), data, extra.
    public var onInviteMsg: ((String?, String?, UInt32, String?, String?, String?) -> Void)! {
        get { session.callbacks[\.onInviteMsg] }
        set { session.callbacks[\.onInviteMsg] = newValue }
    }

    /// A message was not sent: its id, and the reason (400, or 401 when no answer came in time).
    public var onMessageSendError: ((String?, AgoraEcode) -> Void)! {
        get { session.callbacks[\.onMessageSendError] }
        set { session.callbacks[\.onMessageSendError] = newValue }
    }

    /// A message was sent: its id, never nil.
    public var onMessageSendSuccess: ((String?) -> Void)! {
        get { session.callbacks[\.onMessageSendSuccess] }
        set { session.callbacks[\.onMessageSendSuccess] = newValue }
    }

    /// Another user has sent a message to this one: account, 0, text.
    public var onMessageInstantReceive: ((String?, UInt32, String?) -> Void)! {
        get { session.callbacks[\.onMessageInstantReceive] }
        set { session.callbacks[\.onMessageInstantReceive] = newValue }
    }

    /// A message to the channel, this user's own too: channel, account, number, text.
    public var onMessageChannelReceive: ((String?, String?, UInt32, String?) -> Void)! {
        get { session.callbacks[\.onMessageChannelReceive] }
        set { session.callbacks[\.onMessageChannelReceive] = newValue }
    }

    /// A line of the library's log. It begins with the Unix time in ten digits and never
    /// contains tokens or message texts.
    public var onLog: ((String?) -> Void)! {
        get { session.callbacks[\.onLog] }
        set { session.callbacks[\.onLog] = newValue }
    }

    /// Answers ``AgoraAPI/invoke(_:req:callID:)``: call id, error code (empty on success), JSON text.
    public var onInvokeRet: ((String?, String?, String?) -> Void)! {
        get { session.callbacks[\.onInvokeRet] }
        set { session.callbacks[\.onInvokeRet] = newValue }
    }

    /// Answers ``AgoraAPI/queryUserStatus(_:)``: account, `1` for online and `0` for offline.
    public var onQueryUserStatusResult: ((String?, String?) -> Void)! {
        get { session.callbacks[\.onQueryUserStatusResult] }
        set { session.callbacks[\.onQueryUserStatusResult] = newValue }
    }

    /// Answers ``AgoraAPI/getAttr(_:)`` and ``AgoraAPI/getUserAttr(_:name:)``: account,
    /// name, value (empty when not set).
    public var onUserAttrResult: ((String?, String?, String?) -> Void)! {
        get { session.callbacks[\.onUserAttrResult] }
        set { session.callbacks[\.onUserAttrResult] = newValue }
    }

    /// Answers ``AgoraAPI/getAttrAll()`` and ``AgoraAPI/getUserAttrAll(_:)``: account, and a
    /// JSON object of all attributes.
    public var onUserAttrAllResult: ((String?, String?) -> Void)! {
        get { session.callbacks[\.onUserAttrAllResult] }
        set { session.callbacks[\.onUserAttrAllResult] = newValue }
    }

    /// A call of a method that has no failure callback of its own has failed: the method's name, code, description.
    public var onError: ((String?, AgoraEcode, String?) -> Void)! {
        get { session.callbacks[\.onError] }
        set { session.callbacks[\.onError] = newValue }
    }

    /// Never called: the headers of the old framework declare it, its documents do not.
    public var onMessageSendProgress: ((String?, String?, String?, String?) -> Void)! {
        get { session.callbacks[\.onMessageSendProgress] }
        set { session.callbacks[\.onMessageSendProgress] = newValue }
    }

    /// Never called: the headers of the old framework declare it, its documents do not.
    public var onMessageAppReceived: ((String?) -> Void)! {
        get { session.callbacks[\.onMessageAppReceived] }
        set { session.callbacks[\.onMessageAppReceived] = newValue }
    }

    /// Never called: the headers of the old framework declare it, its documents do not.
    public var onMsg: ((String?, String?, String?) -> Void)! {
        get { session.callbacks[\.onMsg] }
        set { session.callbacks[\.onMsg] = newValue }
    }

    /// Never called: the headers of the old framework declare it, its documents do not.
    public var onDbg: ((String?, String?) -> Void)! {
        get { session.callbacks[\.onDbg] }
        set { session.callbacks[\.onDbg] = newValue }
    }

    /// Never called: the headers of the old framework declare it, its documents do not.
    public var onBCCall_result: ((String?, String?, String?) -> Void)! {
        get { session.callbacks[\.onBCCall_result] }
        set { session.callbacks[\.onBCCall_result] = newValue }
    }
}
