import BusProtocol
import ClusterState
import PostgresStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// An app's limits on the number and the length of calls to telephones.
@Suite struct InvitationPolicyTests {
    private static func policy(_ change: (inout PhonePolicy) -> Void) -> PhonePolicy {
        var policy = PhonePolicy()
        change(&policy)
        return policy
    }

    @Test func aUserCallsSoManyAtOnceAndSoManyInAMinute() async throws {
        try await InvitationStage.run { stage in
            try await stage.setTrunk(
                policy: Self.policy {
                    $0.callsPerUser = 2
                    $0.newCallsPerUser = 4
                })
            let alice = try await stage.login("alice")
            let bob = try await stage.login("bob")
            for number in ["101", "102"] { try await stage.act(.invite, by: alice, to: number) }
            #expect(await stage.refusal(.invite, by: alice, to: "103")?.reason == .tooManyCalls)
            #expect(await stage.refusal(.invite, by: alice, to: "103")?.code == .inviteOther)
            // A call that is refused for another reason does not occupy a line.
            #expect(await stage.refusal(.invite, by: alice, to: "101")?.code == .inviteOther)
            try await stage.act(.invite, by: bob, to: "103")
            try await stage.act(.end, by: alice, to: "101")
            try await stage.act(.invite, by: alice, to: "103")
            #expect(await stage.refusal(.invite, by: alice, to: "103")?.reason == .tooManyCalls)
            try await stage.act(.end, by: alice, to: "102")
            #expect(await stage.refusal(.invite, by: alice, to: "103")?.code == .inviteReinvite)
            #expect(await stage.refusal(.invite, by: alice, to: "104")?.reason == .tooManyNewCalls)
            try await stage.act(.end, by: alice, to: "103")
            #expect(await stage.refusal(.invite, by: alice, to: "104")?.reason == .tooManyNewCalls)
            try await stage.act(.end, by: bob, to: "103")
            for user in [alice.user, bob.user] {
                let left = try await stage.connection.execute(
                    RedisCommand("EXISTS", .string("\(KeySpace.tag(user)):lines"))
                ).int
                #expect(left == 0, "every line is given back")
            }
        }
    }

    @Test func aUserHasSoManyCallsThatAreNotOver() async throws {
        try await InvitationStage.run { stage in
            let (alice, bob) = (try await stage.login("alice"), try await stage.login("bob"))
            let calls = RedisArgument.string(KeySpace.tag(alice.user) + ":calls")
            var filling = RedisCommand("ZADD", calls)
            for number in 0..<Limits.callsPerUser {
                filling.append(.int64(1 << 50))
                filling.append(.string("call\(number) tag"))
            }
            _ = try await stage.connection.execute(filling)
            let refused = await stage.refusal(.invite, by: alice, to: "bob")
            #expect(refused?.code == .inviteOther)
            #expect(refused?.reason == .tooManyCalls)
            #expect(await stage.refusal(.invite, by: bob, to: "alice")?.reason == .tooManyCalls)
            #expect(try await stage.mail(of: "alice").isEmpty, "nobody is told of a call that is none")
            _ = try await stage.connection.execute(RedisCommand("ZREM", calls, "call0 tag"))
            try await stage.act(.invite, by: alice, to: "bob")
            _ = try await stage.connection.execute(RedisCommand("DEL", calls))
        }
    }

    @Test func anAppCallsSoManyAtOnceAndSoManyInAMinute() async throws {
        try await InvitationStage.run { stage in
            try await stage.setTrunk(
                policy: Self.policy {
                    $0.callsPerApp = 2
                    $0.newCallsPerApp = 3
                })
            let (alice, bob) = (try await stage.login("alice"), try await stage.login("bob"))
            try await stage.act(.invite, by: alice, to: "101")
            try await stage.act(.invite, by: bob, to: "102")
            #expect(await stage.refusal(.invite, by: bob, to: "103")?.reason == .appCalls)
            try await stage.act(.end, by: alice, to: "101")
            try await stage.act(.invite, by: bob, to: "103")
            try await stage.act(.end, by: bob, to: "102")
            #expect(await stage.refusal(.invite, by: alice, to: "104")?.reason == .appNewCalls)
            let lines = try await stage.connection.execute(
                RedisCommand("ZCARD", .string("\(KeySpace.tag(stage.app)):lines"))
            ).int
            #expect(lines == 1)
        }
    }

    @Test func thirtyAtOnceAreTenCalls() async throws {
        try await InvitationStage.run(instances: 2) { stage in
            try await stage.setTrunk()
            let bridge = try await StageBridge(on: stage)
            let alice = try await stage.login("alice")
            let refused = await withTaskGroup(of: SignalingError?.self) { group in
                for number in 0..<30 {
                    group.addTask { await stage.refusal(.invite, by: alice, to: "+49301\(number)") }
                }
                return await group.reduce(into: []) { $0.append($1?.reason) }
            }
            #expect(refused.count { $0 == nil } == Limits.phoneCallsPerUser)
            #expect(refused.count { $0 == .tooManyCalls } == 30 - Limits.phoneCallsPerUser)
            _ = try await bridge.dialled(Limits.phoneCallsPerUser)
            #expect(bridge.dialCount == Limits.phoneCallsPerUser)
            await bridge.kill()
        }
    }

    @Test func aCallEndsAfterTheLongestTime() async throws {
        try await InvitationStage.run { stage in
            try await stage.setTrunk(policy: Self.policy { $0.longestCall = .seconds(1) })
            let bridge = try await StageBridge(on: stage)
            let alice = try await stage.login("alice")
            try await stage.act(.invite, by: alice, to: "+49301")
            let call = try await bridge.dialled().call
            for act in [PhoneAct.claimed, .ringing, .accepted] { #expect(try await bridge.report(act, in: call)) }
            try await stage.expectMail(of: "alice", ["voip_invite_ack", "voip_invite_accept", "voip_invite_bye"])
            #expect(try await stage.mail(of: "alice").last?.extra == #"{"code":704,"reason":"too_long"}"#)
            try await bridge.expectOrders([#"end {"code":704,"reason":"too_long"}"#])
            try await stage.expectPhoneLog(["outbound +49301 704"])
            await bridge.kill()
        }
    }
}
