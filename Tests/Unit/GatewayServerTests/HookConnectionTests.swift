import BusProtocol
import NIOCore
import SignalingProtocol
import Testing

@testable import GatewayServer

/// Connections whose app's before-hook is set, or is not known, while they log in or resume.
@Suite struct HookConnectionTests {
    private typealias Client = EmbeddedClient

    /// A hook whose question is refused at once, without a server: none may be under way.
    private static func hook() throws -> BeforeHook {
        let url = try #require(WebhookURL("http://hooks.example.com/"))
        var hook = BeforeHook(url: url, secret: "0123456789abcdef", points: HookPoints([.join]))
        hook.requests = 0
        return hook
    }

    private func joins(_ client: EmbeddedClient, _ line: String) async throws -> [String] {
        try await client.says(#"["call2",["channel_join",1,{"line":"\#(line)","name":"room"}]]"#)
        return try await client.told()
    }

    /// Answers the first command, that for the app's settings.
    private func appIsKnown(_ client: EmbeddedClient, with hook: BeforeHook) async throws {
        try await client.answer(1) { fields in
            AppSettings(certificate: "", tokenRequired: false, hook: hook).write(to: &fields)
        }
    }

    /// Answers the second command: presence has moved the session here.
    private func sessionIsMoved(_ client: EmbeddedClient) async throws {
        try await client.answer(2) { fields in
            SessionResumed(uid: 7, channel: nil, push: false).write(to: &fields)
        }
    }

    @Test func aHookThatIsSetWhileTheSessionIsOpenedReachesIt() async throws {
        let client = try await Client()
        let hook = try Self.hook()
        let app = try AppID("app")
        try await client.says(Client.login)
        try await client.appIsKnown()
        let held = try await client.onLoop { shard in
            shard.adopt(AppSettings(certificate: "", tokenRequired: false, hook: hook), of: app)
            // Nobody is logged in yet, but somebody is about to be.
            shard.lookAfterApps()
            return shard.hooks.heldPoints(of: app)
        }
        #expect(held == hook.points)
        try await client.sessionIsOpened()
        _ = try await client.told()
        let told = try await joins(client, client.line())
        #expect(told.map { $0.contains("unavailable") } == [true])
        let channels = try await client.onLoop { shard in shard.channels.count }
        #expect(channels == 0)
    }

    @Test func aResumeIsAnsweredOnceTheAppsSettingsAreKnown() async throws {
        let client = try await Client()
        try await client.says(Client.lineLogin)
        try await sessionIsMoved(client)
        #expect(try await client.told() == [])
        try await appIsKnown(client, with: Self.hook())
        #expect(try await client.told().map { $0.contains("line_login_ret") } == [true])
        let told = try await joins(client, Client.line)
        #expect(told.map { $0.contains("unavailable") } == [true])
        let channels = try await client.onLoop { shard in shard.channels.count }
        #expect(channels == 0)
    }

    @Test func aResumedSessionDoesNothingUnaskedUntilTheAppsSettingsAreKnown() async throws {
        let client = try await Client()
        try await client.says(Client.lineLogin)
        try await sessionIsMoved(client)
        try await client.refuse(1)
        #expect(try await client.told().map { $0.contains("line_login_ret") } == [true])
        let told = try await joins(client, Client.line)
        #expect(told.map { $0.contains("unavailable") } == [true])
        // They are asked for again.
        await client.pass(.seconds(1))
        let hook = try Self.hook()
        let app = try AppID("app")
        try await client.answer(3) { fields in
            AppSettings(certificate: "", tokenRequired: false, hook: hook).write(to: &fields)
        }
        let held = try await client.onLoop { shard in shard.hooks.heldPoints(of: app) }
        #expect(held == hook.points)
    }
}
