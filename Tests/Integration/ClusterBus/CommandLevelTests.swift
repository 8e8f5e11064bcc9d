import BusProtocol
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// While an older process runs, commands that it does not know are not sent.
@Suite struct CommandLevelTests {
    private static func reason(_ gateway: RedisGateway, _ command: some ServiceCommand) async -> SignalingError? {
        guard case .failure(let error) = await gateway.send(command, within: .milliseconds(300)) else { return nil }
        return error
    }

    @Test func aCommandOfAHigherLevelIsRefused() async throws {
        try await RedisScene.run { scene in
            let gateway = try await RedisGateway(scene, level: 1)
            let refusal = await Self.reason(gateway, GetAPIKey(id: "0f"))
            #expect(refusal?.reason == .clusterLevel && refusal?.message.contains("level 2") == true)
            #expect(try await scene.connection.execute(RedisCommand("EXISTS", "cmd:presence")).int == 0)
            // Nobody answers, but it was sent.
            let app = try AppID("a")
            #expect(await Self.reason(gateway, GetApp(app: app))?.reason == .timeout)
            let newer = try await RedisGateway(scene, level: 2)
            #expect(await Self.reason(newer, GetAPIKey(id: "0f"))?.reason == .timeout)
            for gateway in [gateway, newer] { await gateway.subscriber.close() }
        }
    }
}
