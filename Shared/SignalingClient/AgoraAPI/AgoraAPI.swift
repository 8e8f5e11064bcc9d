// Names, labels and types are those that the Clang importer gave the Objective-C framework.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, NeverUseImplicitlyUnwrappedOptionals

@_exported public import CAgoraEcode
public import Foundation
internal import SignalingWire
internal import Synchronization

/// The signaling API as apps know it, over ``SignalingClient``'s machinery. Source: Signaling API 1.4.4.
///
/// Usable from any thread. Calls return at once; callbacks come one at a time, in order, on a queue of the instance's own.
/// nil is taken for the empty string. Where the cluster is say ``configure(discovery:)``, the environment's `HELIOGRAPH_URL`,
/// or `HeliographURL` in the Info.plist, in this order.
///
/// `@unchecked Sendable`: apps subclass it, so that the compiler can't know; its own state is `session`, which is Sendable,
/// and what the locks guard.
open class AgoraAPI: NSObject, @unchecked Sendable {
    private static let shared = AgoraAPI()
    /// The version of the API that this one follows: 1.4.4.0, in the documents' spelling.
    private static let version: Int32 = 1_010_404_000

    let session = AgoraSession()
    private let identity = AgoraIdentity()

    /// An instance that is not logged in.
    public override init() { super.init() }

    // MARK: - Instances

    /// The shared instance, always the same; it remembers the app id.
    open class func getInstanceWithoutMedia(_ appId: String!) -> AgoraAPI! {
        shared.identity.app = appId ?? ""
        return shared
    }

    /// A new instance.
    open class func createSigInstance(_ appId: String!) -> AgoraAPI! {
        let instance = AgoraAPI()
        instance.identity.app = appId ?? ""
        return instance
    }

    /// The shared instance; an older name.
    open class func getSigInstance(_ vendorKey: String!) -> AgoraAPI! { getInstanceWithoutMedia(vendorKey) }

    /// Says where the cluster is, for logins from now on: base URLs that answer `/getaddr`.
    public class func configure(discovery: String...) { ClusterLocation.configure(.discovery(discovery)) }

    /// Logs out, forgets the callbacks.
    open func destroy() { session.destroy() }

    // MARK: - Login

    /// Logs in, with ``login2(_:account:token:uid:deviceID:retry_time_in_s:retry_count:)``'s defaults.
    open func login(_ appId: String!, account: String!, token: String!, uid: UInt32, deviceID: String!) {
        login2(
            appId, account: account, token: token, uid: uid, deviceID: deviceID, retry_time_in_s: 30, retry_count: 15)
    }

    /// Logs in; tried again until a bound is reached. Ignored while logged in.
    open func login2(
        _ appId: String!, account: String!, token: String!, uid: UInt32, deviceID: String!, retry_time_in_s: Int32,
        retry_count: Int32
    ) {
        let app = appId ?? ""
        let configuration = ClusterLocation.current.map { source in
            var configuration = ClientConfiguration(
                app: app.isEmpty ? identity.app : app, account: account ?? "", token: token ?? "", source: source)
            configuration.uid = uid
            configuration.timing.loginTime = .seconds(Int64(max(retry_time_in_s, 0)))
            configuration.timing.loginRetries = Int(max(retry_count, 0))
            return configuration
        }
        session.login(configuration)
    }

    /// Logs out; ends in ``onLogout``.
    open func logout() { session.logout() }

    /// 0 not logged in, 1 logging in, 2 logged in, 3 reconnecting.
    open func getStatus() -> Int32 { Int32(session.state.withLock { $0.status }.rawValue) }

    /// Whether the user is logged in and connected; obsolete.
    open func isOnline() -> Bool { getStatus() == 2 }

    /// The version in ten digits: 1010104019 is 1.1.4.19.
    open func getSdkVersion() -> Int32 { Self.version }

    /// The account's number, once logged in.
    open var uid: Int32 {
        get { Int32(truncatingIfNeeded: session.state.withLock { $0.uid }) }
        set { session.state.withLock { $0.uid = UInt32(bitPattern: newValue) } }
    }

    // MARK: - Users

    /// Calls a function of the system by its name; answered by ``onInvokeRet``.
    open func invoke(_ name: String!, req: String!, callID: String!) {
        session.invoke(name ?? "", req ?? "", callID ?? "")
    }

    /// Asks whether a user is online; answered by ``onQueryUserStatusResult``.
    open func queryUserStatus(_ account: String!) { session.queryUserStatus(account ?? "") }

    /// Sets one of one's own attributes.
    open func setAttr(_ name: String!, value: String!) { session.setAttribute(name ?? "", value ?? "") }

    /// Asks for one of one's own attributes; answered by ``onUserAttrResult``.
    open func getAttr(_ name: String!) { session.getAttribute("getAttr", nil, name ?? "") }

    /// Asks for all of one's own attributes; answered by ``onUserAttrAllResult``.
    open func getAttrAll() { session.getAttributes("getAttrAll", nil) }

    /// Asks for a user's attribute; answered by ``onUserAttrResult``.
    open func getUserAttr(_ account: String!, name: String!) {
        session.getAttribute("getUserAttr", account ?? "", name ?? "")
    }

    /// Asks for all of a user's attributes; answered by ``onUserAttrAllResult``.
    open func getUserAttrAll(_ account: String!) { session.getAttributes("getUserAttrAll", account ?? "") }

    /// Sends a message to a user; answered by ``onMessageSendSuccess`` or ``onMessageSendError``.
    open func messageInstantSend(_ account: String!, uid: UInt32, msg: String!, msgID: String!) {
        session.sendMessage(account ?? "", msg ?? "", msgID ?? "")
    }

    // MARK: - Channels

    /// Joins a channel, leaving the one the user was in.
    open func channelJoin(_ channelID: String!) { session.join(channelID ?? "") }

    /// Leaves a channel.
    open func channelLeave(_ channelID: String!) { session.leave(channelID ?? "") }

    /// Asks how many users are in a channel.
    open func channelQueryUserNum(_ channelID: String!) { session.countMembers(channelID ?? "") }

    /// Asks whether a user is in a channel; answered by ``onChannelQueryUserIsIn``.
    open func channelQueryUserIs(in channelID: String!, account: String!) {
        session.queryMember(channelID ?? "", account ?? "")
    }

    /// The Objective-C spelling of ``channelQueryUserIs(in:account:)``.
    open func channelQueryUserIsIn(_ channelID: String!, account: String!) {
        channelQueryUserIs(in: channelID, account: account)
    }

    /// Sets an attribute of a channel.
    open func channelSetAttr(_ channelID: String!, name: String!, value: String!) {
        session.changeAttribute(
            "channelSetAttr", "channel_set_attr", channelID ?? "", name: name ?? "", value: value ?? "")
    }

    /// Deletes an attribute of a channel.
    open func channelDelAttr(_ channelID: String!, name: String!) {
        session.changeAttribute("channelDelAttr", "channel_del_attr", channelID ?? "", name: name ?? "", value: nil)
    }

    /// Deletes all attributes of a channel.
    open func channelClearAttr(_ channelID: String!) {
        session.changeAttribute("channelClearAttr", "channel_clear_attr", channelID ?? "", name: nil, value: nil)
    }

    /// Sends a message to the channel one is in.
    open func messageChannelSend(_ channelID: String!, msg: String!, msgID: String!) {
        session.sendToChannel(channelID ?? "", msg ?? "", msgID ?? "", force: false)
    }

    /// Sends a message to a channel that one need not be in.
    open func messageChannelSendForce(_ channelID: String!, msg: String!, msgID: String!) {
        session.sendToChannel(channelID ?? "", msg ?? "", msgID ?? "", force: true)
    }

    // MARK: - Calls

    /// Invites a user to a channel.
    open func channelInviteUser(_ channelID: String!, account: String!, uid: UInt32) {
        session.invite(channelID ?? "", account ?? "", uid: uid, extra: "")
    }

    /// Invites a user to a channel, with JSON text for the peer and the system.
    open func channelInviteUser2(_ channelID: String!, account: String!, extra: String!) {
        session.invite(channelID ?? "", account ?? "", uid: 0, extra: extra ?? "")
    }

    /// Sends digits within a call.
    open func channelInviteDTMF(_ channelID: String!, phoneNum: String!, dtmf: String!) {
        session.answer(
            "channelInviteDTMF", "voip_invite_msg", channelID ?? "", phoneNum ?? "",
            extra: SignalingClient.dtmf(dtmf ?? ""))
    }

    /// Accepts an invitation.
    open func channelInviteAccept(_ channelID: String!, account: String!, uid: UInt32, extra: String!) {
        session.answer("channelInviteAccept", "voip_invite_accept", channelID ?? "", account ?? "", extra: extra ?? "")
    }

    /// Refuses an invitation.
    open func channelInviteRefuse(_ channelID: String!, account: String!, uid: UInt32, extra: String!) {
        session.answer("channelInviteRefuse", "voip_invite_refuse", channelID ?? "", account ?? "", extra: extra ?? "")
    }

    /// Ends a call; answered by ``onInviteEndByMyself``.
    open func channelInviteEnd(_ channelID: String!, account: String!, uid: UInt32) {
        session.end(channelID ?? "", account ?? "", uid: uid)
    }

    // MARK: - Obsolete

    /// Sends digits to the party of a call, named by number.
    open func messageDTMFSend(_ uid: UInt32, msg: String!, msgID: String!) {
        session.sendDTMF(uid: uid, msg ?? "", msgID ?? "")
    }

    /// Invites a phone to a channel.
    open func channelInvitePhone(_ channelID: String!, phoneNum: String!, uid: UInt32) {
        channelInviteUser(channelID, account: phoneNum, uid: uid)
    }

    /// Invites a phone to a channel, showing it a number.
    open func channelInvitePhone2(_ channelID: String!, phoneNum: String!, sourcesNum: String!) {
        channelInvitePhone3(channelID, phoneNum: phoneNum, sourcesNum: sourcesNum, extra: "")
    }

    /// Invites a phone to a channel, showing it a number, with more JSON text.
    open func channelInvitePhone3(_ channelID: String!, phoneNum: String!, sourcesNum: String!, extra: String!) {
        channelInviteUser2(
            channelID, account: phoneNum, extra: AgoraIdentity.extra(extra ?? "", source: sourcesNum ?? ""))
    }

    // MARK: - In headers only

    /// The shorter function; what is more is ignored.
    open func channelJoin(_ channelID: String!, dynamicKey: String!) { channelJoin(channelID) }

    /// The shorter function; what is more is ignored.
    open func messageInstantSend2(_ account: String!, uid: UInt32, msg: String!, msgID: String!, options: String!) {
        messageInstantSend(account, uid: uid, msg: msg, msgID: msgID)
    }

    /// The shorter function; what is more is ignored.
    open func messageChannelSend2(_ channelID: String!, msg: String!, msgID: String!, extra: String!) {
        messageChannelSend(channelID, msg: msg, msgID: msgID)
    }

    /// Does nothing; kept for the source of apps.
    open func messageAppSend(_ msg: String!, msgID: String!) {}

    /// Does nothing; kept for the source of apps.
    open func messagePushSend(_ account: String!, uid: UInt32, msg: String!, msgID: String!) {}

    /// Does nothing; kept for the source of apps.
    open func messageChatSend(_ account: String!, uid: UInt32, msg: String!, msgID: String!) {}

    /// Does nothing; kept for the source of apps.
    open func setBackground(_ bOut: UInt32) {}

    /// Does nothing; kept for the source of apps.
    open func setNetworkStatus(_ bOut: UInt32) {}

    /// Does nothing; kept for the source of apps.
    open func ping() {}

    /// Does nothing; kept for the source of apps.
    open func start() {}

    /// Does nothing; kept for the source of apps.
    open func stop() {}

    /// Does nothing; kept for the source of apps.
    open func bc_call(_ func: String!, json_args: String!, callID: String!) {}

    /// Does nothing; kept for the source of apps.
    open func dbg(_ a: String!, b: String!) {}
}

/// The app id that an instance was made with.
///
/// `@unchecked Sendable`: `stored` is guarded by `lock`.
final class AgoraIdentity: @unchecked Sendable {
    private let lock = NSLock()
    private var stored = ""

    var app: String {
        get { lock.withLock { stored } }
        set { lock.withLock { stored = newValue } }
    }

    /// `extra` with the number to show to the phone; an `extra` that is no JSON object is left out.
    static func extra(_ extra: String, source: String) -> String {
        guard !source.isEmpty else { return extra }
        var members: [JSONMember] = []
        if case .object(let given)? = try? JSONValue.parse(extra.utf8) {
            members = given.filter { $0.name != "srcNum" }
        }
        members.append(JSONMember("srcNum", .string(source)))
        return JSONValue.object(members).compactText
    }
}
