import TestKit
import Testing

@testable import AgoraSigKit
@testable import SignalingClient

extension StackTests {
    @Suite("AgoraAPI: instances, login, connection") struct AgoraLoginTests {
        let stack: RunningStack

        init() throws {
            stack = try #require(RunningStack.current)
            AgoraAPI.configure(discovery: "http://127.0.0.1:\(stack.gateways[0].port)")
        }

        @Test func instances() async throws {
            let shared: AgoraAPI = AgoraAPI.getInstanceWithoutMedia(stack.openApp)
            #expect(shared === AgoraAPI.getInstanceWithoutMedia(stack.openApp)!)
            #expect(shared !== AgoraAPI.createSigInstance(stack.openApp)!)
            #expect(AgoraAPI.createSigInstance("a")! !== AgoraAPI.createSigInstance("a")!)
            let alice = try await AppUser("alice", app: stack.openApp).loggedIn()
            let bob = try await AppUser("bob", app: stack.openApp).loggedIn()
            alice.api.destroy()
            #expect(alice.api.getStatus() == 0)
            #expect(alice.api.onLogout == nil)
            try await waitUntil("alice is offline") {
                let asked = bob.calls("onQueryUserStatusResult").count
                bob.api.queryUserStatus(alice.account)
                try await bob.sees("onQueryUserStatusResult", times: asked + 1)
                return bob.lines.contains("onQueryUserStatusResult \(alice.account) 0") ? nil : "online"
            }
            #expect(alice.calls("onLogout").isEmpty)
            try await bob.leaves()
        }

        @Test func loginAndLogout() async throws {
            let alice = AppUser("alice", app: stack.openApp)
            #expect(alice.api.getStatus() == 0)
            #expect(!alice.api.isOnline())
            #expect(!alice.isCalledBackWithinLogin(), "never on the caller's stack")
            #expect(alice.api.getStatus() == 1)
            try await alice.sees("onLoginSuccess")
            #expect(alice.api.getStatus() == 2)
            #expect(alice.api.isOnline())
            #expect(String(alice.api.getSdkVersion()).count == 10)
            // A login while logged in is ignored.
            alice.login()
            try await alice.sees("onError login 208")
            try await alice.leaves()
            #expect(alice.calls("onLogout") == ["onLogout 101"])
            #expect(alice.calls("onLoginSuccess").count == 1)
            #expect(alice.api.getStatus() == 0)
            alice.api.logout()
            try await alice.sees("onLogout 108")
            #expect(!alice.overlapped)
            for line in alice.calls("onLog") {
                let time = line.dropFirst("onLog ".count).prefix(10)
                #expect(time.count == 10 && Int(time) != nil)
            }
        }

        @Test func loginReplacesALoginThatEnds() async throws {
            let alice = try await AppUser("alice", app: stack.openApp).loggedIn()
            alice.api.logout()
            alice.login()
            try await alice.sees("onLoginSuccess", times: 2)
            let order = alice.lines.filter { $0.hasPrefix("onLog") && !$0.hasPrefix("onLog ") }
            #expect(order == ["onLoginSuccess", "onLogout 101", "onLoginSuccess"])
            #expect(alice.api.getStatus() == 2)
            try await alice.leaves()
        }

        @Test func refusedLogins() async throws {
            let alice = AppUser("alice", app: stack.tokenApp.id)
            alice.login(try stack.token(for: "bob"))
            try await alice.sees("onLoginFailed 206")
            #expect(alice.api.getStatus() == 0)
            alice.login(try stack.token(for: alice.account, expiresIn: -5))
            try await alice.sees("onLoginFailed 204")
            let spaced = AppUser("two words", app: stack.openApp, exactly: true)
            spaced.login()
            try await spaced.sees("onLoginFailed 209")
            spaced.login(app: "nosuchapp")
            try await spaced.sees("onLoginFailed", times: 2)
            alice.login(try stack.token(for: alice.account))
            try await alice.sees("onLoginSuccess")
            try await alice.leaves()
        }

        @Test("login2 ends at either bound", arguments: [(1, 1000), (1000, 2)])
        func loginBounds(seconds: Int32, count: Int32) async throws {
            AgoraAPI.configure(discovery: "http://127.0.0.1:9")
            let alice = AppUser("alice", app: stack.openApp)
            alice.api.login2(
                nil, account: alice.account, token: "_no_need_token", uid: 0, deviceID: nil, retry_time_in_s: seconds,
                retry_count: count)
            try await alice.sees("onLoginFailed 201")
            #expect(alice.api.getStatus() == 0)
        }

        @Test func logoutWhileLoggingIn() async throws {
            AgoraAPI.configure(discovery: "http://127.0.0.1:9")
            let alice = AppUser("alice", app: stack.openApp)
            alice.login()
            alice.api.logout()
            try await alice.sees("onLogout 101")
            #expect(alice.lines.filter { !$0.hasPrefix("onLog ") } == ["onLoginFailed 203", "onLogout 101"])
        }

        @Test func kicked() async throws {
            let first = try await AppUser("alice", app: stack.openApp).loggedIn()
            first.api.channelJoin("room")
            try await first.sees("onChannelJoined room")
            let second = try await AppUser(first.account, app: stack.openApp, exactly: true).loggedIn()
            try await first.sees("onLogout 103")
            #expect(first.calls("onChannelLeaved") == ["onChannelLeaved room 601"])
            #expect(first.api.getStatus() == 0)
            try await second.leaves()
        }

        @Test func reconnects() async throws {
            let proxy = try await CuttableProxy(to: stack.gateways[0])
            ClusterLocation.configure(.addresses([proxy.endpoint]))
            let alice = try await AppUser("alice", app: stack.openApp).loggedIn()
            try await proxy.setOpen(false)
            try await alice.sees("onReconnecting 1")
            try await alice.sees("onReconnecting 2")
            #expect(alice.api.getStatus() == 3)
            #expect(!alice.api.isOnline())
            alice.api.messageInstantSend(alice.account, uid: 0, msg: "kept", msgID: "m1")
            try await proxy.setOpen(true)
            try await alice.sees("onReconnected")
            try await alice.sees("onMessageSendSuccess m1")
            try await alice.sees("onMessageInstantReceive \(alice.account) kept")
            #expect(alice.api.getStatus() == 2)
            #expect(alice.calls("onMessageInstantReceive").count == 1)
            try await alice.leaves()
            try await proxy.close()
        }
    }
}
