/// The codes of the signaling system, as apps know them. Source: Signaling API, "Error codes".
///
/// The hundreds tell what failed: 1 the session, 2 a login, 3 a join, 4 a message, 5 a query for the number of users, 6
/// a membership, 7 an invitation, 10 anything else. Codes that no version of the system sends any more (104, 106, 107,
/// 205, 502, 705) are left out.
public enum SignalingCode: Int, Sendable, CaseIterable, Error {
    /// Success (SUCCESS).
    case success = 0
    /// The session ended for a reason without a code of its own (LOGOUT_E_OTHER).
    case logoutOther = 100
    /// The user has logged out (LOGOUT_E_USER).
    case logoutUser = 101
    /// The connection was lost and the session could not be resumed, or the cluster has lost it (LOGOUT_E_NET).
    case logoutNetwork = 102
    /// The account has logged in elsewhere (LOGOUT_E_KICKED).
    case logoutKicked = 103
    /// The token expired during the session (LOGOUT_E_TOKENEXPIRED).
    case logoutTokenExpired = 105
    /// A logout without being logged in (LOGOUT_E_ALREADY_LOGOUT).
    case alreadyLoggedOut = 108
    /// The login failed for a reason without a code of its own, such as too many logins at once (LOGIN_E_OTHER).
    case loginOther = 200
    /// No gateway could be reached (LOGIN_E_NET).
    case loginNetwork = 201
    /// There is no such app (LOGIN_E_FAILED).
    case loginRejected = 202
    /// The app logged out while it was logging in (LOGIN_E_CANCEL).
    case loginCancelled = 203
    /// The token is genuine but has expired (LOGIN_E_TOKENEXPIRED).
    case loginTokenExpired = 204
    /// The token was not made for this account, app and certificate (LOGIN_E_TOKENWRONG).
    case loginTokenWrong = 206
    /// A newer login of the account has replaced this one (LOGIN_E_TOKEN_KICKED).
    case loginKicked = 207
    /// A login on a connection that is logged in already (LOGIN_E_ALREADY_LOGIN).
    case alreadyLoggedIn = 208
    /// The text is not a valid account (LOGIN_E_INVALID_USER).
    case invalidUser = 209
    /// The channel was not joined (JOINCHANNEL_E_OTHER).
    case joinOther = 300
    /// The message was not sent; the reason says why, such as `rate_limited` (SENDMESSAGE_E_OTHER).
    case messageOther = 400
    /// No answer came in time: whether the message was sent is unknown (SENDMESSAGE_E_TIMEOUT).
    case messageTimeout = 401
    /// The number of users could not be determined (QUERYUSERNUM_E_OTHER).
    case userNumberOther = 500
    /// No answer to the query for the number of users came in time (QUERYUSERNUM_E_TIMEOUT).
    case userNumberTimeout = 501
    /// The membership ended for a reason without a code of its own (LEAVECHANNEL_E_OTHER).
    case leaveOther = 600
    /// The membership ended because the account has logged in elsewhere, or the app's server has removed the user
    /// (LEAVECHANNEL_E_KICKED).
    case leaveKicked = 601
    /// The user has left the channel (LEAVECHANNEL_E_BYUSER).
    case leaveByUser = 602
    /// The membership ended with the logout (LEAVECHANNEL_E_LOGOUT).
    case leaveLogout = 603
    /// The membership ended because the session was lost (LEAVECHANNEL_E_DISCONN).
    case leaveDisconnected = 604
    /// The invitation failed for a reason without a code of its own (INVITE_E_OTHER).
    case inviteOther = 700
    /// An invitation of that callee to that channel is pending (INVITE_E_REINVITE).
    case inviteReinvite = 701
    /// No answer came in time: whether the invitation was sent is unknown (INVITE_E_NET).
    case inviteNetwork = 702
    /// The callee is offline (INVITE_E_PEEROFFLINE).
    case invitePeerOffline = 703
    /// Nobody answered the invitation in time (INVITE_E_TIMEOUT).
    case inviteTimeout = 704
    /// An error of any other kind (GENERAL_E).
    case general = 1000
    /// The cluster cannot process the request at the moment; trying again may help (GENERAL_E_FAILED).
    case failed = 1001
    /// There is no such function (GENERAL_E_UNKNOWN).
    case unknown = 1002
    /// There is no session, or it has ended (GENERAL_E_NOT_LOGIN).
    case notLoggedIn = 1003
    /// A parameter is missing or malformed (GENERAL_E_WRONG_PARAM).
    case wrongParameter = 1004
    /// A parameter is too long (GENERAL_E_LARGE_PARAM).
    case largeParameter = 1005
}
