import BusProtocol
import ClusterBus
import ClusterState
import MessageStore
import PostgresStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// Bridges that are lost, and whether a call goes to a user or to a telephone.
@Suite struct InvitationBridgeTests {
    private static let number = StageBridge.telephone
    private static let lost = #"{"code":702,"reason":"bridge_lost"}"#

    @Test func callsOfAKilledBridgeEndWithinTenSeconds() async throws {
        try await InvitationStage.run { stage in
            try await stage.setTrunk()
            let bridge = try await StageBridge(on: stage)
            let alice = try await stage.login("alice")
            let bob = try await stage.login("bob")
            let call = try await bridge.claimCall(of: alice)
            #expect(try await bridge.report(.accepted, in: call))
            let ringing = try await bridge.invite("bob", call: "b-1").0
            _ = try await stage.send(
                CallAct(verb: .acknowledge, actor: bob, channel: ringing.channel.name, peer: Self.number, extra: ""))
            try await bridge.expectOrders(["ringing "])
            let other = try await StageBridge(on: stage)
            let kept = try await other.invite("bob", from: "222", call: "o-1").0
            await bridge.kill()
            let start = ContinuousClock.now
            try await stage.expectMail(of: "alice", ["voip_invite_accept", "voip_invite_bye"])
            try await stage.expectMail(of: "bob", ["voip_invite", "voip_invite_bye"])
            #expect(start.duration(to: .now) < .seconds(10))
            #expect(try await stage.mail(of: "alice").last?.extra == Self.lost)
            #expect(try await other.report(.message, in: kept), "another bridge's call goes on")
            try await waitUntil("the stream's end") {
                let stream = RedisCommand("EXISTS", .string(KeySpace.commands(bridge.id)))
                return try await stage.connection.execute(stream).int == 0 ? nil : "it is there"
            }
            // The lost bridge returns: its calls are over, and no order creates its stream again.
            #expect(try await bridge.report(.message, in: call) == false)
            try await stage.expectPhoneLog([
                "outbound +49301234 702", "inbound +49301234 702 id@b-1", "inbound 222 live id@o-1",
            ])
            await other.kill()
        }
    }

    @Test func claimOfALostBridgeIsEndedToo() async throws {
        try await InvitationStage.run { stage in
            try await stage.setTrunk()
            let bridge = try await StageBridge(on: stage)
            let alice = try await stage.login("alice")
            try await stage.act(.invite, by: alice, to: Self.number)
            let call = try await bridge.dialled().call
            await bridge.kill()
            try await waitUntil("the bridge's loss") {
                let found = try await stage.connection.execute(
                    RedisCommand("ZSCORE", .string(KeySpace.bridges), .string(bridge.id.rawValue)))
                return found.isNull ? nil : "it is listed"
            }
            // A claim that was delayed for a long time.
            #expect(try await bridge.report(.claimed, in: call))
            try await stage.expectMail(of: "alice", ["voip_invite_failed"])
            #expect(try await stage.mail(of: "alice").last?.extra == Self.lost)
        }
    }

    @Test func aJudgeThatHasJustBegunWaitsForALease() async throws {
        try await InvitationStage.run { stage in
            let bridge = try await StageBridge(on: stage)
            _ = try await stage.login("alice")
            let call = try await bridge.invite("alice", call: "b-1").0
            // While Redis was away no lease could be renewed; whoever judges has been heard by it for a moment only.
            await bridge.kill()
            try await stage.stopInstances()
            try await bridge.id.expire(on: stage.connection)
            let due = RedisArgument.string(KeySpace.due(.invitation)), timer = BridgeID.fleet.timer(bridge.id)
            let time = try await stage.connection.execute(RedisCommand("TIME")).array ?? []
            let start = (time.first?.int ?? 0) * 1000
            _ = try await stage.connection.execute(RedisCommand("ZADD", due, .int64(start), .string(timer)))
            try await stage.startInstance()
            // A timer that is being handled is postponed by ten seconds, so that another instance would handle it then.
            try await waitUntil("the look, and the next one's time") {
                let found = try await stage.connection.execute(RedisCommand("ZSCORE", due, .string(timer))).string
                let next = found.flatMap { Int64($0) } ?? 0
                return next > start && next < start + 9900 ? nil : "\(next - start)"
            }
            let leases = BridgeLeases(connection: stage.connection)
            #expect(try await leases.heartbeat(bridge.id) == false)
            #expect(try await bridge.report(.message, in: call), "the call goes on")
            try await stage.expectPhoneLog(["inbound +49301234 live id@b-1"])
        }
    }

    @Test func bridgeThatLeavesEndsWhatItHeldAtOnce() async throws {
        try await InvitationStage.run { stage in
            let bridge = try await StageBridge(on: stage)
            _ = try await stage.login("alice")
            #expect(try await bridge.invite("alice", call: "b-1").continues)
            await bridge.kill()
            try await bridge.leave()
            try await stage.expectMail(of: "alice", ["voip_invite", "voip_invite_bye"])
        }
    }

    @Test func digitsAreAUserUnlessTheAppHasATrunk() async throws {
        try await InvitationStage.run { stage in
            let bridge = try await StageBridge(on: stage)
            let alice = try await stage.login("alice")
            try await stage.act(.invite, by: alice, to: "12345")
            try await stage.act(.invite, by: alice, to: "bob", #"{"srcNum":"1"}"#)
            #expect(try await stage.mail(of: "12345").map(\.type) == ["voip_invite"])
            #expect(try await stage.mail(of: "bob").map(\.type) == ["voip_invite"])
            try await stage.act(.invite, by: alice, to: Self.number)
            try await stage.expectMail(of: "alice", ["voip_invite_failed"])
            #expect(try await stage.mail(of: "alice").last?.extra == #"{"code":700,"reason":"no_trunk"}"#)
            #expect(bridge.dialCount == 0)
            try await stage.setTrunk()
            // What was read from PostgreSQL is cached for a second.
            try await waitUntil("a telephone") {
                try await stage.act(.invite, by: alice, to: "777")
                if bridge.dialCount > 0 { return nil }
                try await stage.act(.end, by: alice, to: "777")
                return "still a user"
            }
            for callee in ["bob2", "12", "tel:110", "SIP:bob@example.org"] {
                try await stage.act(.invite, by: alice, to: callee)
            }
            try await stage.act(.invite, by: alice, to: "carol", #"{"srcNum":"1"}"#)
            let phones = try await [2, 3, 4].asyncMap { try await bridge.dialled($0).call.phone.rawValue }
            #expect(phones.sorted() == ["SIP:bob@example.org", "carol", "tel:110"])
            await bridge.kill()
        }
    }

    @Test func callsOfUsersNeedNoPostgres() async throws {
        let postgres = try await PostgresServer()
        try await InvitationStage.run(postgres: postgres) { stage in
            try await stage.setTrunk()
            try await postgres.stop()
            let alice = try await stage.login("alice")
            _ = try await stage.login("4711")
            try await stage.act(.invite, by: alice, to: "bob")
            #expect(try await stage.mail(of: "bob").map(\.type) == ["voip_invite"])
            try await stage.act(.invite, by: alice, to: "4711")
            #expect(try await stage.mail(of: "4711").map(\.type) == ["voip_invite"])
            #expect(await stage.refusal(.invite, by: alice, to: Self.number)?.reason == .unavailable)
            #expect(await stage.refusal(.invite, by: alice, to: "4712")?.reason == .unavailable)
            try await postgres.start()
        }
        try await postgres.remove()
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
