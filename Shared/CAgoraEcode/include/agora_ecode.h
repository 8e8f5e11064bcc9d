#ifndef HELIOGRAPH_AGORA_ECODE_H
#define HELIOGRAPH_AGORA_ECODE_H

/// The codes of the signaling API as apps of the old framework spell them: `AgoraEcode.LOGIN_E_NET`. The enumeration is open: a
/// code that it does not list keeps its value. Source: Signaling API, "Error codes".
typedef enum __attribute__((enum_extensibility(open))) AgoraEcode : unsigned long {
    /// Success.
    AgoraEcode_SUCCESS = 0,
    /// The session ended for a reason without a code of its own.
    AgoraEcode_LOGOUT_E_OTHER = 100,
    /// The user has logged out.
    AgoraEcode_LOGOUT_E_USER = 101,
    /// The connection was lost and the session could not be resumed, or the cluster has lost it.
    AgoraEcode_LOGOUT_E_NET = 102,
    /// The account has logged in elsewhere.
    AgoraEcode_LOGOUT_E_KICKED = 103,
    /// Not sent any more.
    AgoraEcode_LOGOUT_E_PACKET = 104,
    /// The token's time ran out during the session.
    AgoraEcode_LOGOUT_E_TOKENEXPIRED = 105,
    /// Not sent any more.
    AgoraEcode_LOGOUT_E_OLDVERSION = 106,
    /// Not sent any more.
    AgoraEcode_LOGOUT_E_TOKENWRONG = 107,
    /// A logout without a login.
    AgoraEcode_LOGOUT_E_ALREADY_LOGOUT = 108,
    /// The login failed for a reason without a code of its own, such as too many logins at once.
    AgoraEcode_LOGIN_E_OTHER = 200,
    /// No gateway could be reached.
    AgoraEcode_LOGIN_E_NET = 201,
    /// There is no such app.
    AgoraEcode_LOGIN_E_FAILED = 202,
    /// The app logged out while it was logging in.
    AgoraEcode_LOGIN_E_CANCEL = 203,
    /// The token is genuine, but has expired.
    AgoraEcode_LOGIN_E_TOKENEXPIRED = 204,
    /// Not sent any more.
    AgoraEcode_LOGIN_E_OLDVERSION = 205,
    /// The token is not one of this account, app and certificate.
    AgoraEcode_LOGIN_E_TOKENWRONG = 206,
    /// A newer login has taken the account meanwhile.
    AgoraEcode_LOGIN_E_TOKEN_KICKED = 207,
    /// A login while the account is logged in on the same connection.
    AgoraEcode_LOGIN_E_ALREADY_LOGIN = 208,
    /// The text is no account.
    AgoraEcode_LOGIN_E_INVALID_USER = 209,
    /// The channel was not joined.
    AgoraEcode_JOINCHANNEL_E_OTHER = 300,
    /// The message was not sent, because of a rate limit or a full mailbox for example.
    AgoraEcode_SENDMESSAGE_E_OTHER = 400,
    /// No answer in time: whether the message was sent is unknown.
    AgoraEcode_SENDMESSAGE_E_TIMEOUT = 401,
    /// The number of users could not be asked for.
    AgoraEcode_QUERYUSERNUM_E_OTHER = 500,
    /// No answer in time to the question for the number of users.
    AgoraEcode_QUERYUSERNUM_E_TIMEOUT = 501,
    /// Not sent any more.
    AgoraEcode_QUERYUSERNUM_E_BYUSER = 502,
    /// Out of the channel for a reason without a code of its own.
    AgoraEcode_LEAVECHANNEL_E_OTHER = 600,
    /// Out of the channel because the account has logged in elsewhere.
    AgoraEcode_LEAVECHANNEL_E_KICKED = 601,
    /// The user has left the channel.
    AgoraEcode_LEAVECHANNEL_E_BYUSER = 602,
    /// Out of the channel by the logout.
    AgoraEcode_LEAVECHANNEL_E_LOGOUT = 603,
    /// Out of the channel because the session was lost.
    AgoraEcode_LEAVECHANNEL_E_DISCONN = 604,
    /// The invitation failed for a reason without a code of its own.
    AgoraEcode_INVITE_E_OTHER = 700,
    /// An invitation of that callee to that channel is pending.
    AgoraEcode_INVITE_E_REINVITE = 701,
    /// No answer in time: whether the invitation was sent is unknown.
    AgoraEcode_INVITE_E_NET = 702,
    /// The callee is offline.
    AgoraEcode_INVITE_E_PEEROFFLINE = 703,
    /// Nobody has reacted to the invitation in time.
    AgoraEcode_INVITE_E_TIMEOUT = 704,
    /// Not sent any more.
    AgoraEcode_INVITE_E_CANTRECV = 705,
    /// Any error.
    AgoraEcode_GENERAL_E = 1000,
    /// The cluster could not do it just now; trying again may help.
    AgoraEcode_GENERAL_E_FAILED = 1001,
    /// There is no such function.
    AgoraEcode_GENERAL_E_UNKNOWN = 1002,
    /// There is no session, or it is over.
    AgoraEcode_GENERAL_E_NOT_LOGIN = 1003,
    /// A parameter is missing or malformed.
    AgoraEcode_GENERAL_E_WRONG_PARAM = 1004,
    /// A parameter is too long.
    AgoraEcode_GENERAL_E_LARGE_PARAM = 1005,
} AgoraEcode;

#endif
