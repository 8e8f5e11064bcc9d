// Names, labels and types are those that the Clang importer gave the Objective-C framework.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, NeverUseImplicitlyUnwrappedOptionals

@_exported public import CAgoraEcode
public import Foundation
internal import NIOConcurrencyHelpers
internal import SignalingClient

// `@unchecked Sendable`: apps subclass it, which a class with a checked conformance does not
// allow. Its constants are Sendable.
/// The interface of the old iOS and macOS framework, so that apps that were written for it compile and run unchanged.
/// Source: Signaling API 1.4.4.
///
/// Usable from any thread. Methods return at once. Callbacks are called one at a time, in order, on a queue of the
/// instance, never on the caller's stack. A nil argument counts as the empty string. The cluster is found by the URLs
/// given to ``configure(discovery:)``, else by the environment variable `HELIOGRAPH_URL`, else by
/// `HeliographURL` in the app's Info.plist.
open class AgoraAPI: NSObject, @unchecked Sendable {
    private static let shared = AgoraAPI()

    let session = AgoraSession()
    private let identity = AgoraIdentity()

    /// Creates an instance that is not logged in. Apps normally use ``getInstanceWithoutMedia(_:)``.
    public override init() { super.init() }

    // MARK: - Instances

    /// The shared instance, always the same.
    /// - Parameter appId: the app id for logins that are given none.
    open class func getInstanceWithoutMedia(_ appId: String!) -> AgoraAPI! {
        shared.identity.app = appId ?? ""
        return shared
    }

    /// Creates a separate instance, for a further account in the same process.
    /// - Parameter appId: the app id for logins that are given none.
    open class func createSigInstance(_ appId: String!) -> AgoraAPI! {
        let instance = AgoraAPI()
        instance.identity.app = appId ?? ""
        return instance
    }

    /// The shared instance, under the name of older headers; see ``getInstanceWithoutMedia(_:)``.
    open class func getSigInstance(_ vendorKey: String!) -> AgoraAPI! { getInstanceWithoutMedia(vendorKey) }

    /// Logs out without a callback and forgets all callbacks. The instance can be used again.
    open func destroy() { session.destroy() }

    // MARK: - Login

    /// Logs in, trying for 30 s and 15 times at most; see
    /// ``login2(_:account:token:uid:deviceID:retry_time_in_s:retry_count:)``.
    open func login(_ appId: String!, account: String!, token: String!, uid: UInt32, deviceID: String!) {
        login2(
            appId, account: account, token: token, uid: uid, deviceID: deviceID, retry_time_in_s: 30, retry_count: 15)
    }

    /// Logs in; answered by ``onLoginSuccess`` or ``onLoginFailed``. While the user is logged in, this only reports 208
    /// to ``onError``; during a logout, the login starts when the logout is done. The old framework's own signature.
    /// - Parameters:
    ///   - appId: the app id; nil or empty for the one with which the instance was created.
    ///   - account: the user, 1 to 128 bytes without white space.
    ///   - token: a `SignalingToken`, or `_no_need_token`.
    ///   - uid: only recorded.
    ///   - deviceID: ignored.
    ///   - retry_time_in_s: how long to try, in seconds.
    ///   - retry_count: how often to try again.
    open func login2(
        _ appId: String!, account: String!, token: String!, uid: UInt32, deviceID: String!, retry_time_in_s: Int32,
        retry_count: Int32
    ) {
        var configuration = identity.configuration(app: appId ?? "", account: account ?? "", token: token ?? "")
        configuration?.uid = uid
        configuration?.timing.loginTime = .seconds(Int64(max(retry_time_in_s, 0)))
        configuration?.timing.loginRetries = Int(max(retry_count, 0))
        session.login(configuration)
    }

    /// Logs out; answered by ``onLogout`` with 101, or with 108 when nobody is logged in.
    open func logout() { session.logout() }

    /// The state of the instance: 0 not logged in, 1 logging in, 2 logged in, 3 reconnecting.
    open func getStatus() -> Int32 { Int32(session.state.withLockedValue { $0.status }.rawValue) }

    /// Whether the user is logged in and connected. Obsolete: ``getStatus()`` tells more states apart.
    open func isOnline() -> Bool { getStatus() == 2 }

    /// The API version that this class implements, 1.4.4.0, in the framework's ten-digit form, in which 1010104019 is
    /// 1.1.4.19.
    open func getSdkVersion() -> Int32 { 1_010_404_000 }

    /// The account's number within its app; 0 before the first login.
    open var uid: Int32 {
        get { Int32(truncatingIfNeeded: session.state.withLockedValue { $0.uid }) }
        set { session.state.withLockedValue { $0.uid = UInt32(bitPattern: newValue) } }
    }

    // MARK: - Users

    /// Calls a function of the system by its name; answered by ``onInvokeRet``.
    /// - Parameters:
    ///   - name: the function's name, such as `user_query_user_status`, with or without `io.agora.signal.` in front.
    ///   - req: the arguments, a JSON object.
    ///   - callID: any text; passed to ``onInvokeRet`` with the answer.
    open func invoke(_ name: String!, req: String!, callID: String!) {
        session.invoke(name ?? "", req ?? "", callID ?? "")
    }

    /// Asks whether a user is online; a failure goes to ``onError``. Answered by ``onQueryUserStatusResult``.
    open func queryUserStatus(_ account: String!) { session.queryUserStatus(account ?? "") }

    /// Sets an attribute of this user: a name of 1 to 128 bytes, a value of at most 8096.
    /// A failure goes to ``onError``.
    open func setAttr(_ name: String!, value: String!) { session.setAttribute(name ?? "", value ?? "") }

    /// Asks for an attribute of this user; answered by ``onUserAttrResult``.
    open func getAttr(_ name: String!) { session.getAttribute("getAttr", nil, name ?? "") }

    /// Asks for all attributes of this user; answered by ``onUserAttrAllResult``.
    open func getAttrAll() { session.getAttributes("getAttrAll", nil) }

    /// Asks for a user's attribute; answered by ``onUserAttrResult``.
    open func getUserAttr(_ account: String!, name: String!) {
        session.getAttribute("getUserAttr", account ?? "", name ?? "")
    }

    /// Asks for all of a user's attributes; answered by ``onUserAttrAllResult``.
    open func getUserAttrAll(_ account: String!) { session.getAttributes("getUserAttrAll", account ?? "") }

    /// Sends a message to a user, who gets it at the next login when offline; answered by ``onMessageSendSuccess`` or
    /// ``onMessageSendError``.
    /// - Parameters:
    ///   - account: the receiver.
    ///   - uid: ignored.
    ///   - msg: at most 8192 bytes.
    ///   - msgID: passed to the callback with the answer; nil or empty for a random one.
    open func messageInstantSend(_ account: String!, uid: UInt32, msg: String!, msgID: String!) {
        session.sendMessage(account ?? "", msg ?? "", msgID ?? "")
    }

    // MARK: - Channels

    /// Joins a channel and leaves the one that the user was in; answered by ``onChannelJoined`` and then
    /// ``onChannelUserList`` and ``onChannelAttrUpdated`` for each attribute, or by ``onChannelJoinFailed``.
    open func channelJoin(_ channelID: String!) { session.join(channelID ?? "") }

    /// Leaves a channel; answered by ``onChannelLeaved``, with 602 when it is done.
    open func channelLeave(_ channelID: String!) { session.leave(channelID ?? "") }

    /// Asks how many users are in a channel; answered by ``onChannelQueryUserNumResult``.
    open func channelQueryUserNum(_ channelID: String!) { session.countMembers(channelID ?? "") }

    /// Asks whether a user is in a channel; answered by ``onChannelQueryUserIsIn``.
    open func channelQueryUserIs(in channelID: String!, account: String!) {
        session.queryMember(channelID ?? "", account ?? "")
    }

    /// The Objective-C name of ``channelQueryUserIs(in:account:)``.
    open func channelQueryUserIsIn(_ channelID: String!, account: String!) {
        channelQueryUserIs(in: channelID, account: account)
    }

    /// Sets an attribute of a channel: a name of 1 to 128 bytes, a value of at most 8096. The members are informed by
    /// ``onChannelAttrUpdated``; a failure goes to ``onError``.
    open func channelSetAttr(_ channelID: String!, name: String!, value: String!) {
        session.changeAttribute(
            "channelSetAttr", "channel_set_attr", channelID ?? "", name: name ?? "", value: value ?? "")
    }

    /// Deletes an attribute of a channel; a failure goes to ``onError``.
    open func channelDelAttr(_ channelID: String!, name: String!) {
        session.changeAttribute("channelDelAttr", "channel_del_attr", channelID ?? "", name: name ?? "", value: nil)
    }

    /// Deletes all attributes of a channel; a failure goes to ``onError``.
    open func channelClearAttr(_ channelID: String!) {
        session.changeAttribute("channelClearAttr", "channel_clear_attr", channelID ?? "", name: nil, value: nil)
    }

    /// Sends a message to the channel that the user is in; answered by ``onMessageSendSuccess`` or
    /// ``onMessageSendError``. All members, the sender included, receive it by ``onMessageChannelReceive``.
    open func messageChannelSend(_ channelID: String!, msg: String!, msgID: String!) {
        session.sendToChannel(channelID ?? "", msg ?? "", msgID ?? "", force: false)
    }

    /// Sends a message to a channel without being a member of it; otherwise as ``messageChannelSend(_:msg:msgID:)``.
    open func messageChannelSendForce(_ channelID: String!, msg: String!, msgID: String!) {
        session.sendToChannel(channelID ?? "", msg ?? "", msgID ?? "", force: true)
    }

    // MARK: - Calls

    /// Invites a user, or a telephone by its number, to a channel. The progress is reported by
    /// ``onInviteReceivedByPeer``, ``onInviteAcceptedByPeer``, ``onInviteRefusedByPeer`` or ``onInviteFailed``.
    open func channelInviteUser(_ channelID: String!, account: String!, uid: UInt32) {
        session.invite(channelID ?? "", account ?? "", uid: uid, extra: "")
    }

    /// Invites a user, or a telephone by its number, to a channel.
    /// - Parameters:
    ///   - channelID: the channel.
    ///   - account: the callee.
    ///   - extra: JSON for the callee, at most 8192 bytes, or empty. The system reads `_timeout` and
    ///     `_require_peer_online`, among others.
    open func channelInviteUser2(_ channelID: String!, account: String!, extra: String!) {
        session.invite(channelID ?? "", account ?? "", uid: 0, extra: extra ?? "")
    }

    /// Sends digits within a call: 0 to 9, `*`, `#`, A to D, and the comma for a pause. A failure goes to ``onError``.
    open func channelInviteDTMF(_ channelID: String!, phoneNum: String!, dtmf: String!) {
        session.answer(
            "channelInviteDTMF", "voip_invite_msg", channelID ?? "", phoneNum ?? "",
            extra: SignalingClient.dtmf(dtmf ?? ""))
    }

    /// Accepts an invitation, without joining its channel; a failure goes to ``onError``.
    open func channelInviteAccept(_ channelID: String!, account: String!, uid: UInt32, extra: String!) {
        session.answer("channelInviteAccept", "voip_invite_accept", channelID ?? "", account ?? "", extra: extra ?? "")
    }

    /// Refuses an invitation; a failure goes to ``onError``.
    open func channelInviteRefuse(_ channelID: String!, account: String!, uid: UInt32, extra: String!) {
        session.answer("channelInviteRefuse", "voip_invite_refuse", channelID ?? "", account ?? "", extra: extra ?? "")
    }

    /// Ends a call, or withdraws an invitation; answered by ``onInviteEndByMyself``.
    open func channelInviteEnd(_ channelID: String!, account: String!, uid: UInt32) {
        session.end(channelID ?? "", account ?? "", uid: uid)
    }

    // MARK: - Obsolete

    /// Sends digits to the other party of a call, identified by its number within the app. Obsolete: use
    /// ``channelInviteDTMF(_:phoneNum:dtmf:)``. Answered by ``onMessageSendSuccess`` or ``onMessageSendError``.
    open func messageDTMFSend(_ uid: UInt32, msg: String!, msgID: String!) {
        session.sendDTMF(uid: uid, msg ?? "", msgID ?? "")
    }

    /// Invites a telephone to a channel. Obsolete: use ``channelInviteUser2(_:account:extra:)``.
    open func channelInvitePhone(_ channelID: String!, phoneNum: String!, uid: UInt32) {
        channelInviteUser(channelID, account: phoneNum, uid: uid)
    }

    /// Invites a telephone to a channel; the telephone shows `sourcesNum` as the caller's number. Obsolete: use
    /// ``channelInviteUser2(_:account:extra:)`` with `srcNum` in `extra`.
    open func channelInvitePhone2(_ channelID: String!, phoneNum: String!, sourcesNum: String!) {
        channelInvitePhone3(channelID, phoneNum: phoneNum, sourcesNum: sourcesNum, extra: "")
    }

    /// Invites a telephone to a channel; the telephone shows `sourcesNum` as the caller's number. `extra` is further
    /// JSON. Obsolete: use ``channelInviteUser2(_:account:extra:)`` with `srcNum` in `extra`.
    open func channelInvitePhone3(_ channelID: String!, phoneNum: String!, sourcesNum: String!, extra: String!) {
        channelInviteUser2(
            channelID, account: phoneNum, extra: AgoraIdentity.extra(extra ?? "", source: sourcesNum ?? ""))
    }

    // MARK: - In headers only

    /// Same as ``channelJoin(_:)``; `dynamicKey` is ignored, because signaling channels have no dynamic keys.
    open func channelJoin(_ channelID: String!, dynamicKey: String!) { channelJoin(channelID) }

    /// Same as ``messageInstantSend(_:uid:msg:msgID:)``; `options` is ignored.
    open func messageInstantSend2(_ account: String!, uid: UInt32, msg: String!, msgID: String!, options: String!) {
        messageInstantSend(account, uid: uid, msg: msg, msgID: msgID)
    }

    /// Same as ``messageChannelSend(_:msg:msgID:)``; `extra` is ignored.
    open func messageChannelSend2(_ channelID: String!, msg: String!, msgID: String!, extra: String!) {
        messageChannelSend(channelID, msg: msg, msgID: msgID)
    }

    /// Does nothing: the headers of the old framework declare it, its documents do not.
    open func messageAppSend(_ msg: String!, msgID: String!) {}

    /// Does nothing: the headers of the old framework declare it, its documents do not.
    open func messagePushSend(_ account: String!, uid: UInt32, msg: String!, msgID: String!) {}

    /// Does nothing: the headers of the old framework declare it, its documents do not.
    open func messageChatSend(_ account: String!, uid: UInt32, msg: String!, msgID: String!) {}

    /// Does nothing: the headers of the old framework declare it, its documents do not.
    open func setBackground(_ bOut: UInt32) {}

    /// Does nothing: the headers of the old framework declare it, its documents do not.
    open func setNetworkStatus(_ bOut: UInt32) {}

    /// Does nothing: the headers of the old framework declare it, its documents do not.
    open func ping() {}

    /// Does nothing: the headers of the old framework declare it, its documents do not.
    open func start() {}

    /// Does nothing: the headers of the old framework declare it, its documents do not.
    open func stop() {}

    /// Does nothing: the headers of the old framework declare it, its documents do not.
    open func bc_call(_ func: String!, json_args: String!, callID: String!) {}

    /// Does nothing: the headers of the old framework declare it, its documents do not.
    open func dbg(_ a: String!, b: String!) {}
}
