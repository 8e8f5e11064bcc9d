import BusProtocol
import ClusterBus
import ClusterState
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// Commands that are delivered twice, and parts of the system that fail.
@Suite struct InvitationFailureTests {
    @Test func redeliveredCommandsTakeEffectOnce() async throws {
        try await InvitationStage.run(instances: 2) { stage in
            let alice = try await stage.login("alice")
            let bob = try await stage.login("bob")
            func deliverThrice(_ verb: CallVerb, by actor: Actor, to peer: String, id: String) async throws {
                let act = CallAct(verb: verb, actor: actor, channel: stage.channel, peer: peer, extra: "x")
                let command = PostedCommand.command(on: .single, for: act, id: CommandID(id))
                for result in await stage.connection.execute([command, command, command]) { _ = try result.get() }
            }
            try await deliverThrice(.invite, by: alice, to: "bob", id: "i")
            try await stage.expectMail(of: "bob", ["voip_invite"])
            try await deliverThrice(.acknowledge, by: bob, to: "alice", id: "k")
            try await stage.expectMail(of: "alice", ["voip_invite_ack"])
            try await deliverThrice(.accept, by: bob, to: "alice", id: "a")
            try await stage.expectMail(of: "alice", ["voip_invite_ack", "voip_invite_accept"])
            try await deliverThrice(.message, by: bob, to: "alice", id: "m")
            try await stage.expectMail(of: "alice", ["voip_invite_ack", "voip_invite_accept", "voip_invite_msg"])
            try await deliverThrice(.end, by: bob, to: "alice", id: "e")
            try await stage.expectMail(
                of: "alice", ["voip_invite_ack", "voip_invite_accept", "voip_invite_msg", "voip_invite_bye"])
            try await waitUntil("all commands are handled") {
                let length = try await stage.connection.execute(
                    RedisCommand("XLEN", .string(KeySpace.posts(.invitation)))
                ).int
                return length == 0 ? nil : "\(length ?? -1) left"
            }
            #expect(try await stage.mail(of: "alice").count == 4)
            try await stage.expectLog(["bob 0 acknowledged accepted"])
        }
    }

    @Test func commandPastItsDeadlineHasNoEffect() async throws {
        try await InvitationStage.run(instances: 0) { stage in
            let alice = try await stage.login("alice")
            let act = CallAct(verb: .invite, actor: alice, channel: stage.channel, peer: "bob", extra: "")
            // The call's deadline has passed by the time a service starts.
            let time = try await stage.connection.execute(RedisCommand("TIME")).array?.first?.int ?? 0
            _ = try await stage.connection.execute(
                PostedCommand.command(
                    on: .single, for: act, id: CommandID("late"), deadline: RedisTime(milliseconds: (time - 1) * 1000)))
            try await stage.startInstance()
            try await stage.act(.invite, by: alice, to: "carol")
            #expect(try await stage.mail(of: "bob") == [])
            #expect(try await stage.mail(of: "carol").count == 1)
        }
    }

    @Test func timersOutliveTheProcessThatSetThem() async throws {
        try await InvitationStage.run { stage in
            let alice = try await stage.login("alice")
            try await stage.act(.invite, by: alice, to: "bob", #"{"_timeout":4}"#)
            await stage.cancelInstances()
            try await waitUntil("the invitation's time is over") {
                let due = try await stage.connection.execute(
                    RedisCommand("ZRANGE", .string(KeySpace.due(.invitation)), 0, 0, "WITHSCORES"))
                let time = try await stage.connection.execute(RedisCommand("TIME"))
                let deadline = due.array?.last?.int ?? .max
                return (time.array?.first?.int ?? 0) * 1000 > deadline ? nil : "not yet"
            }
            #expect(try await stage.mail(of: "alice") == [])
            try await stage.startInstance()
            try await stage.expectMail(of: "alice", ["voip_invite_failed"])
            try await stage.expectMail(of: "bob", [])
        }
    }

    @Test func nothingIsLeftBehindByAnEndedCall() async throws {
        try await InvitationStage.run { stage in
            let alice = try await stage.login("alice")
            let bob = try await stage.login("bob")
            try await stage.act(.invite, by: alice, to: "bob")
            try await stage.act(.acknowledge, by: bob, to: "alice")
            try await stage.act(.accept, by: bob, to: "alice")
            try await stage.act(.end, by: bob, to: "alice")
            for actor in [alice, bob] {
                let calls = try await stage.connection.execute(
                    RedisCommand("EXISTS", .string("\(KeySpace.tag(actor.user)):calls")))
                #expect(calls.int == 0)
            }
            let timers = try await stage.connection.execute(
                RedisCommand("ZCARD", .string(KeySpace.due(.invitation))))
            #expect(timers.int == 0)
            let tag = KeySpace.callTag(
                channel: ChannelKey(app: stage.app, name: stage.channel), caller: alice.user.account,
                callee: bob.user.account)
            let life = try await stage.connection.execute(RedisCommand("PTTL", .string("\(tag):call"))).int ?? -1
            #expect((1...60_000).contains(life))
        }
    }

    @Test func callsGoOnWithoutPostgreSQL() async throws {
        let server = try await PostgresServer()
        try await InvitationStage.run(postgres: server) { stage in
            let alice = try await stage.login("alice")
            let bob = try await stage.login("bob")
            try await server.stop()
            try await stage.act(.invite, by: alice, to: "bob")
            try await stage.act(.acknowledge, by: bob, to: "alice")
            try await stage.act(.accept, by: bob, to: "alice")
            try await stage.act(.end, by: bob, to: "alice")
            #expect(
                try await stage.mail(of: "alice").map(\.type) == [
                    "voip_invite_ack", "voip_invite_accept", "voip_invite_bye",
                ])
            try await server.start()
            try await stage.expectLog(["bob 0 acknowledged accepted"])
        }
        try await server.remove()
    }
}
