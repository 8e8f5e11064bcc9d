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

        @Test("Over TLS, found through https; a stranger's certificate is refused")
        func tls() async throws {
            let stack = try #require(RunningStack.current)
            let secure = GatewayEndpoint(host: "127.0.0.1", port: stack.gateways[0].port + 1, secure: true)
            for source in [GatewaySource.addresses([secure]), .discovery(["https://127.0.0.1:\(secure.port)/"])] {
                let alice = try await Person.login("alice") {
                    $0.source = source
                    $0.tls.trustRootsFile = stack.certificate
                }
                #expect(await alice.client.gateway?.secure == true)
                try await alice.client.sendMessage("hello", to: alice.account)
                try await alice.waits(for: "its message") { _ in alice.texts == ["hello"] ? true : Bool?.none }
                try await alice.leaves()
            }
            var stranger = ClientConfiguration(app: stack.openApp, account: "a", source: .addresses([secure]))
            stranger.timing.loginRetries = 0
            let configuration = stranger
            let error = await failure { () throws(SignalingError) in
                _ = try await SignalingClient.connect(configuration)
            }
            #expect(error?.code == .loginNetwork)
        }

        @Test("Cancellation ends a login and a call at once")
        func cancellation() async throws {
            let stack = try #require(RunningStack.current)
            let nowhere = ClientConfiguration(
                app: "a", account: "b", source: .addresses([GatewayEndpoint(host: "127.0.0.1", port: 9)]))
            let login = Task {
                await failure { () throws(SignalingError) in _ = try await SignalingClient.connect(nowhere) }
            }
            login.cancel()
            #expect(await login.value?.code == .loginCancelled)
            let proxy = try await CuttableProxy(to: stack.gateways[0])
            let alice = try await Person.login("alice") { $0.source = .addresses([proxy.endpoint]) }
            try await proxy.setOpen(false)
            try await alice.waits(for: .reconnecting(attempt: 1))
            let client = alice.client
            let call = Task {
                await failure { () throws(SignalingError) in try await client.sendMessage("x", to: "bob") }
            }
            call.cancel()
            #expect(await call.value?.reason == .cancelled)
            client.abandon()
            try await alice.waits(for: "the end") { if case .loggedOut = $0 { true } else { Bool?.none } }
            try await proxy.close()
        }

        @Test("A client lives as long as the work it was made for")
        func structuredLifetime() async throws {
            let stack = try #require(RunningStack.current)
            let account = unique("alice")
            let configuration = ClientConfiguration(
                app: stack.openApp, account: account, source: .addresses(stack.gateways))
            let bob = try await Person.login("bob")
            try await SignalingClient.withClient(configuration) { _ in
                let isOnline = try await bob.client.isOnline(account)
                #expect(isOnline)
            }
            try await waitUntil("\(account) is offline") {
                try await bob.client.isOnline(account) ? "online" : nil
            }
            try await bob.leaves()
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
