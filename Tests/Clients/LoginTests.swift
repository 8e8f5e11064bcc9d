import SignalingClient
import SignalingProtocol
import TestKit
import Testing

extension StackTests {
    @Suite("Login and logout") struct LoginTests {
        @Test("Through discovery, with a token; logged out with 101")
        func discovery() async throws {
            let stack = try #require(RunningStack.current)
            let account = unique("alice")
            let alice = try await Person.login(account, exactly: true) { configuration in
                configuration.app = stack.tokenApp.id
                configuration.token = try stack.token(for: account)
                configuration.source = .discovery(["http://127.0.0.1:\(stack.gateways[0].port)"])
            }
            #expect(await alice.client.status == .online)
            #expect(alice.client.uid > 0)
            try await alice.waits(for: .loggedIn(uid: alice.client.uid))
            try await alice.leaves()
            guard case .loggedOut(let error)? = alice.events.last else { throw TestFailure("no end") }
            #expect(error.code == .logoutUser)
            #expect(await alice.client.status == .loggedOut)
            #expect(
                await failure { () throws(SignalingError) in try await alice.client.send("x", to: "room") }?.code
                    == .notLoggedIn)
        }

        @Test("Refusals have their codes")
        func refusals() async throws {
            let stack = try #require(RunningStack.current)
            func code(_ account: String, app: String, token: String) async throws -> SignalingCode? {
                let source = GatewaySource.addresses(stack.gateways)
                let configuration = ClientConfiguration(app: app, account: account, token: token, source: source)
                return await failure { () throws(SignalingError) in _ = try await SignalingClient.connect(configuration)
                }?.code
            }
            let closed = stack.tokenApp.id
            let token = try stack.token(for: "alice")
            #expect(try await code("bob", app: closed, token: token) == .loginTokenWrong)
            #expect(try await code("alice", app: closed, token: "_no_need_token") == .loginTokenWrong)
            let old = try stack.token(for: "alice", expiresIn: -10)
            #expect(try await code("alice", app: closed, token: old) == .loginTokenExpired)
            #expect(try await code("two words", app: stack.openApp, token: "_no_need_token") == .invalidUser)
            #expect(try await code("alice", app: "nosuchapp", token: "_no_need_token") == .loginRejected)
        }

        @Test("Nobody there: 201 when the bound is reached")
        func unreachable() async throws {
            var configuration = ClientConfiguration(
                app: "a", account: "b", source: .addresses([GatewayEndpoint(host: "127.0.0.1", port: 9)]))
            configuration.timing.loginRetries = 3
            configuration.timing.backOff = .milliseconds(10)
            let limited = configuration
            let error = await failure { () throws(SignalingError) in _ = try await SignalingClient.connect(limited) }
            #expect(error?.code == .loginNetwork)
        }

        @Test("A second login kicks the first with 103", arguments: [0, 1])
        func kick(gateway: Int) async throws {
            let first = try await Person.login("alice", gateway: 0)
            let second = try await Person.login(first.account, gateway: gateway, exactly: true)
            let error = try await first.waits(for: "the kick") {
                if case .loggedOut(let error) = $0 { error } else { nil }
            }
            #expect(error.code == .logoutKicked)
            try await second.client.sendMessage("note", to: second.account)
            try await second.waits(for: "its message") { _ in second.texts == ["note"] ? true : Bool?.none }
            try await second.leaves()
        }

    }
}
