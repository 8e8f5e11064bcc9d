// Code as apps write it. That it compiles proves that the interface is complete.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

import AgoraSigKit
import Foundation
import Testing

// `@unchecked Sendable` because it inherits from AgoraAPI, which apps subclass and so cannot conform by a check.
/// A subclass of `AgoraAPI`, as apps define it.
private final class OurSignal: AgoraAPI, @unchecked Sendable {
    override func logout() { super.logout() }
}

/// Holds and uses `AgoraAPI` in all the ways that apps do.
private final class Screen {
    static let signal: AgoraAPI! = AgoraAPI.getInstanceWithoutMedia("app")
    var agoraAPI: AgoraAPI! = AgoraAPI.createSigInstance("app")
    let plain: AgoraAPI = AgoraAPI.getInstanceWithoutMedia("app")
    let forced = AgoraAPI.getInstanceWithoutMedia("app")!
    var codes: [UInt] = []

    func listen() {
        agoraAPI.onReconnecting = { (retry: UInt32) -> Void in _ = retry }
        agoraAPI.onReconnected = { (fd: Int32) -> Void in _ = fd }
        agoraAPI.onLoginSuccess = { [weak self] (uid: UInt32, fd: Int32) -> Void in self?.codes.append(UInt(uid)) }
        agoraAPI.onLogout = { [weak self] (ecode: AgoraEcode) -> Void in self?.codes.append(ecode.rawValue) }
        agoraAPI.onLoginFailed = { (ecode: AgoraEcode) -> Void in
            switch ecode {
            case .LOGIN_E_NET, .LOGIN_E_TOKENWRONG: break
            default: break
            }
        }
        agoraAPI.onChannelJoined = { (channelID: String?) -> Void in _ = channelID! }
        agoraAPI.onChannelJoinFailed = { (channelID: String?, ecode: AgoraEcode) -> Void in _ = ecode }
        agoraAPI.onChannelLeaved = { (channelID: String?, ecode: AgoraEcode) -> Void in
            if ecode == AgoraEcode.LEAVECHANNEL_E_BYUSER {}
        }
        agoraAPI.onChannelUserJoined = { (account: String?, uid: UInt32) -> Void in _ = account }
        agoraAPI.onChannelUserLeaved = { (account: String?, uid: UInt32) -> Void in _ = uid }
        agoraAPI.onChannelUserList = { (accounts: NSMutableArray?, uids: NSMutableArray?) -> Void in
            _ = (accounts as! [String], uids as! [Int])
        }
        agoraAPI.onChannelQueryUserNumResult = { (id: String?, ecode: AgoraEcode, num: Int32) -> Void in _ = num }
        agoraAPI.onChannelQueryUserIsIn = { (id: String?, account: String?, isIn: Int32) -> Void in _ = isIn }
        agoraAPI.onChannelAttrUpdated = { (id: String?, name: String?, value: String?, type: String?) -> Void in
            _ = type
        }
        listenToInvitations()
        listenToMessages()
    }

    private func listenToInvitations() {
        agoraAPI.onInviteReceived = { [weak self] (id: String?, account: String?, uid: UInt32, extra: String?) in
            self?.agoraAPI.channelInviteAccept(id, account: account, uid: uid, extra: extra)
        }
        agoraAPI.onInviteReceivedByPeer = { (id: String?, account: String?, uid: UInt32) -> Void in _ = uid }
        agoraAPI.onInviteAcceptedByPeer = { (id: String?, account: String?, uid: UInt32, extra: String?) -> Void in
            _ = extra
        }
        agoraAPI.onInviteRefusedByPeer = { (id: String?, account: String?, uid: UInt32, extra: String?) -> Void in
            _ = extra
        }
        agoraAPI.onInviteFailed = { (id: String?, account: String?, uid: UInt32, ecode: AgoraEcode, extra: String?) in
            _ = ecode
        }
        agoraAPI.onInviteEndByPeer = { (id: String?, account: String?, uid: UInt32, extra: String?) -> Void in _ = uid }
        agoraAPI.onInviteEndByMyself = { (id: String?, account: String?, uid: UInt32) -> Void in _ = uid }
        agoraAPI.onInviteMsg = {
            (id: String?, account: String?, uid: UInt32, type: String?, data: String?, extra: String?) -> Void in
            _ = type
        }
    }

    private func listenToMessages() {
        agoraAPI.onMessageSendError = { (messageID: String?, ecode: AgoraEcode) -> Void in _ = messageID! }
        agoraAPI.onMessageSendSuccess = { (messageID: String?) -> Void in _ = messageID! }
        agoraAPI.onMessageInstantReceive = { (account: String?, uid: UInt32, msg: String?) -> Void in _ = msg! }
        agoraAPI.onMessageChannelReceive = { (id: String?, account: String?, uid: UInt32, msg: String?) -> Void in
            _ = msg!
        }
        agoraAPI.onLog = { (txt: String?) -> Void in _ = txt!.prefix(10) }
        agoraAPI.onInvokeRet = { (callID: String?, err: String?, resp: String?) -> Void in _ = resp }
        agoraAPI.onQueryUserStatusResult = { (name: String?, status: String?) -> Void in _ = status }
        agoraAPI.onUserAttrResult = { (account: String?, name: String?, value: String?) -> Void in _ = value }
        agoraAPI.onUserAttrAllResult = { (account: String?, value: String?) -> Void in _ = value }
        agoraAPI.onError = { (name: String?, ecode: AgoraEcode, desc: String?) -> Void in _ = desc }
        agoraAPI.onMessageSendProgress = { (_: String?, _: String?, _: String?, _: String?) -> Void in }
        agoraAPI.onMessageAppReceived = { (_: String?) -> Void in }
        agoraAPI.onMsg = { (_: String?, _: String?, _: String?) -> Void in }
        agoraAPI.onDbg = { (_: String?, _: String?) -> Void in }
        agoraAPI.onBCCall_result = { (_: String?, _: String?, _: String?) -> Void in }
    }

    /// Calls every method, passing nil wherever an argument may be nil.
    func callEverything() {
        let none: String? = nil
        let api: AgoraAPI = agoraAPI
        api.invoke(none, req: none, callID: none)
        api.queryUserStatus(none)
        api.setAttr(none, value: none)
        api.getAttr(none)
        api.getAttrAll()
        api.getUserAttr(none, name: none)
        api.getUserAttrAll(none)
        api.messageInstantSend(none, uid: 0, msg: none, msgID: none)
        api.channelJoin(none)
        api.channelLeave(none)
        api.channelQueryUserNum(none)
        api.channelQueryUserIs(in: none, account: none)
        api.channelQueryUserIsIn(none, account: none)
        api.channelSetAttr(none, name: none, value: none)
        api.channelDelAttr(none, name: none)
        api.channelClearAttr(none)
        api.messageChannelSend(none, msg: none, msgID: none)
        api.messageChannelSendForce(none, msg: none, msgID: none)
        api.channelInviteUser(none, account: none, uid: 0)
        api.channelInviteUser2(none, account: none, extra: none)
        api.channelInviteDTMF(none, phoneNum: none, dtmf: none)
        api.channelInviteAccept(none, account: none, uid: 0, extra: none)
        api.channelInviteRefuse(none, account: none, uid: 0, extra: none)
        api.channelInviteEnd(none, account: none, uid: 0)
        api.messageDTMFSend(0, msg: none, msgID: none)
        api.channelInvitePhone(none, phoneNum: none, uid: 0)
        api.channelInvitePhone2(none, phoneNum: none, sourcesNum: none)
        api.channelInvitePhone3(none, phoneNum: none, sourcesNum: none, extra: none)
        callTheRest(api, none)
    }

    private func callTheRest(_ api: AgoraAPI, _ none: String?) {
        api.channelJoin(none, dynamicKey: none)
        api.messageAppSend(none, msgID: none)
        api.messageInstantSend2(none, uid: 0, msg: none, msgID: none, options: none)
        api.messageChannelSend2(none, msg: none, msgID: none, extra: none)
        api.messagePushSend(none, uid: 0, msg: none, msgID: none)
        api.messageChatSend(none, uid: 0, msg: none, msgID: none)
        api.setBackground(0)
        api.setNetworkStatus(0)
        api.ping()
        api.start()
        api.stop()
        api.bc_call(none, json_args: none, callID: none)
        api.dbg(none, b: none)
        api.logout()
        api.login(none, account: none, token: none, uid: 0, deviceID: none)
        api.login2(none, account: none, token: none, uid: 0, deviceID: none, retry_time_in_s: 30, retry_count: 15)
        let uid: Int32 = api.uid
        let status: Int32 = api.getStatus()
        let online: Bool = api.isOnline()
        let version: Int32 = api.getSdkVersion()
        _ = (uid, status, online, version)
        api.destroy()
    }
}

@Suite("The interface of the old framework")
struct AgoraSurfaceTests {
    @Test func everyCallCompilesAndAcceptsNil() {
        let screen = Screen()
        screen.listen()
        screen.callEverything()
        #expect(screen.plain === Screen.signal)
        #expect(screen.forced === Screen.signal)
        let own = OurSignal()
        own.logout()
        #expect(own.onLogout == nil)
        #expect(AgoraAPI.getSigInstance("app") === Screen.signal)
    }

    @Test func theSDKsVersionIsSpelledAsInTheOldFramework() {
        let text = String(AgoraAPI().getSdkVersion())
        #expect(text.count == 10)
        #expect(text.dropFirst(2) == "10404000")
    }

    @Test func codesKeepTheirNamesAndValues() {
        #expect(AgoraEcode.SUCCESS.rawValue == 0)
        #expect(AgoraEcode.LOGIN_E_TOKENWRONG.rawValue == 206 as UInt)
        #expect(AgoraEcode(rawValue: 601) == .LEAVECHANNEL_E_KICKED)
        #expect(AgoraEcode(rawValue: 777)?.rawValue == 777)
        #expect(AgoraEcode.GENERAL_E_LARGE_PARAM.rawValue == 1005)
    }

    @Test func callbacksMayChangeThemselves() async {
        let api: AgoraAPI = AgoraAPI.createSigInstance("app")
        let code = await withCheckedContinuation { continuation in
            api.onLogout = { [unowned api] code in
                api.onLogout = nil
                #expect(api.getStatus() == 0)
                continuation.resume(returning: code.rawValue)
            }
            api.logout()
            api.logout()
        }
        #expect(code == 108)
        #expect(api.onLogout == nil)
    }

    @Test func logLinesBeginWithTheTime() async {
        let api: AgoraAPI = AgoraAPI.createSigInstance("app")
        let line = await withCheckedContinuation { continuation in
            api.onLog = { [unowned api] text in
                api.onLog = nil
                continuation.resume(returning: text ?? "")
            }
            api.logout()
        }
        #expect(line.prefix(10).allSatisfy(\.isNumber) && line.dropFirst(10).first == " ")
    }
}
