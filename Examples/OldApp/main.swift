// An app written for the old iOS and macOS framework: `swift run OldApp DISCOVERY_URL APP ACCOUNT`.
import AgoraSigKit
import Dispatch

let arguments = CommandLine.arguments
// For an example, ending the program with its usage is enough.
guard arguments.count == 4 else { fatalError("usage: OldApp DISCOVERY_URL APP ACCOUNT") }

// The only line that had to be added.
AgoraAPI.configure(discovery: arguments[1])

let agora: AgoraAPI = AgoraAPI.getInstanceWithoutMedia(arguments[2])
agora.onLoginSuccess = { uid, _ in
    print("logged in as \(uid)")
    agora.channelJoin("tea")
}
agora.onLoginFailed = { code in print("login failed: \(code.rawValue)") }
agora.onChannelJoined = { channel in agora.messageChannelSend(channel, msg: "hello", msgID: "") }
agora.onMessageChannelReceive = { channel, account, _, text in
    print("\(account ?? "") in \(channel ?? ""): \(text ?? "")")
}
agora.onInviteReceived = { channel, account, uid, _ in
    agora.channelInviteAccept(channel, account: account, uid: uid, extra: "")
}
agora.login(arguments[2], account: arguments[3], token: "_no_need_token", uid: 0, deviceID: "")
dispatchMain()
