/// The public codes of the signaling system. Source: Signaling API, "Error codes".
///
/// Codes that the system never sends any more (104, 106, 107, 205, 502, 705) are left out.
public enum SignalingCode: Int, Sendable, CaseIterable, Error {
    /// SUCCESS.
    case success = 0
    /// LOGOUT_E_OTHER.
    case logoutOther = 100
    /// LOGOUT_E_USER: logged out by the user.
    case logoutUser = 101
    /// LOGOUT_E_NET: the network failed.
    case logoutNetwork = 102
    /// LOGOUT_E_KICKED: logged in elsewhere.
    case logoutKicked = 103
    /// LOGOUT_E_TOKENEXPIRED.
    case logoutTokenExpired = 105
    /// LOGOUT_E_ALREADY_LOGOUT.
    case alreadyLoggedOut = 108
    /// LOGIN_E_OTHER.
    case loginOther = 200
    /// LOGIN_E_NET.
    case loginNetwork = 201
    /// LOGIN_E_FAILED: rejected.
    case loginRejected = 202
    /// LOGIN_E_CANCEL.
    case loginCancelled = 203
    /// LOGIN_E_TOKENEXPIRED.
    case loginTokenExpired = 204
    /// LOGIN_E_TOKENWRONG.
    case loginTokenWrong = 206
    /// LOGIN_E_TOKEN_KICKED: a newer login took the account.
    case loginKicked = 207
    /// LOGIN_E_ALREADY_LOGIN.
    case alreadyLoggedIn = 208
    /// LOGIN_E_INVALID_USER.
    case invalidUser = 209
    /// JOINCHANNEL_E_OTHER.
    case joinOther = 300
    /// SENDMESSAGE_E_OTHER.
    case messageOther = 400
    /// SENDMESSAGE_E_TIMEOUT.
    case messageTimeout = 401
    /// QUERYUSERNUM_E_OTHER.
    case userNumberOther = 500
    /// QUERYUSERNUM_E_TIMEOUT.
    case userNumberTimeout = 501
    /// LEAVECHANNEL_E_OTHER.
    case leaveOther = 600
    /// LEAVECHANNEL_E_KICKED.
    case leaveKicked = 601
    /// LEAVECHANNEL_E_BYUSER.
    case leaveByUser = 602
    /// LEAVECHANNEL_E_LOGOUT.
    case leaveLogout = 603
    /// LEAVECHANNEL_E_DISCONN.
    case leaveDisconnected = 604
    /// INVITE_E_OTHER.
    case inviteOther = 700
    /// INVITE_E_REINVITE: an invitation of that callee to that channel is pending.
    case inviteReinvite = 701
    /// INVITE_E_NET.
    case inviteNetwork = 702
    /// INVITE_E_PEEROFFLINE.
    case invitePeerOffline = 703
    /// INVITE_E_TIMEOUT.
    case inviteTimeout = 704
    /// GENERAL_E.
    case general = 1000
    /// GENERAL_E_FAILED.
    case failed = 1001
    /// GENERAL_E_UNKNOWN.
    case unknown = 1002
    /// GENERAL_E_NOT_LOGIN.
    case notLoggedIn = 1003
    /// GENERAL_E_WRONG_PARAM.
    case wrongParameter = 1004
    /// GENERAL_E_LARGE_PARAM.
    case largeParameter = 1005
}
