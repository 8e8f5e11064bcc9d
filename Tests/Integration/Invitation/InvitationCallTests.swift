import BusProtocol
import SignalingProtocol
import SignalingWire
import Testing

/// Calls between two users who are online, over a real Redis and PostgreSQL.
@Suite struct InvitationCallTests {
    @Test func wholeLifeOfACall() async throws {
        try await InvitationStage.run { stage in
            let alice = try await stage.login("alice", uid: 11)
            let bob = try await stage.login("bob", uid: 22)
            try await stage.act(.invite, by: alice, to: "bob", #"{"n":1}"#)
            #expect(
                try await stage.mail(of: "bob").map(\.description) == [
                    "voip_invite from alice: "
                        + #"{"channel":"a room","peer":"alice","extra":"{\"n\":1}","peeruid":11}"#
                ])
            try await stage.act(.acknowledge, by: bob, to: "alice")
            #expect(try await stage.mail(of: "bob") == [], "the invitation did its work")
            try await stage.act(.accept, by: bob, to: "alice", "yes")
            let digits = #"{"msgtype":"dtmf","msgdata":"12#"}"#
            try await stage.act(.message, by: alice, to: "bob", digits)
            try await stage.act(.message, by: bob, to: "alice", "free text")
            try await stage.act(.end, by: alice, to: "bob", "bye")
            let atAlice = try await stage.mail(of: "alice")
            #expect(atAlice.map(\.type) == ["voip_invite_ack", "voip_invite_accept", "voip_invite_msg"])
            #expect(atAlice.map(\.extra) == ["", "yes", "free text"])
            #expect(atAlice.allSatisfy { $0.peer == "bob" && $0.content["peeruid"] == .number("22") })
            let atBob = try await stage.mail(of: "bob")
            #expect(atBob.map(\.type) == ["voip_invite_msg", "voip_invite_bye"])
            #expect(atBob.map(\.extra) == [digits, "bye"])
            try await stage.act(.end, by: bob, to: "alice")
            #expect(try await stage.mail(of: "alice") == atAlice, "a crossing end is no news")
            try await stage.expectLog(["bob 0 acknowledged accepted"])
        }
    }

    @Test func refusalThenTheNextCall() async throws {
        try await InvitationStage.run { stage in
            let alice = try await stage.login("alice")
            let bob = try await stage.login("bob")
            try await stage.act(.invite, by: alice, to: "bob")
            try await stage.act(.acknowledge, by: bob, to: "alice")
            try await stage.act(.acknowledge, by: bob, to: "alice")
            try await stage.act(.refuse, by: bob, to: "alice", "busy")
            try await stage.act(.invite, by: bob, to: "alice")
            try await stage.act(.acknowledge, by: alice, to: "bob")
            #expect(
                try await stage.mail(of: "alice").map(\.type) == ["voip_invite_ack", "voip_invite_refuse"],
                "the second acknowledgement was no news")
            #expect(try await stage.mail(of: "bob").map(\.type) == ["voip_invite_ack"])
            try await stage.expectLog(["bob 700 acknowledged", "alice live acknowledged"])
        }
    }

    @Test func secondInvitationWhilePending() async throws {
        try await InvitationStage.run { stage in
            let alice = try await stage.login("alice")
            let bob = try await stage.login("bob")
            try await stage.act(.invite, by: alice, to: "bob")
            #expect(await stage.refusal(.invite, by: alice, to: "bob")?.code == .inviteReinvite)
            #expect(await stage.refusal(.invite, by: bob, to: "alice")?.code == .inviteReinvite)
            try await stage.act(.acknowledge, by: bob, to: "alice")
            try await stage.act(.accept, by: bob, to: "alice")
            #expect(try await stage.mail(of: "alice").map(\.type) == ["voip_invite_ack", "voip_invite_accept"])
        }
    }

    @Test func wrongActs() async throws {
        try await InvitationStage.run { stage in
            let alice = try await stage.login("alice")
            let bob = try await stage.login("bob")
            #expect(await stage.refusal(.invite, by: alice, to: "alice")?.code == .wrongParameter)
            #expect(await stage.refusal(.invite, by: alice, to: "b b")?.code == .wrongParameter)
            let tooLarge = String(repeating: "x", count: Limits.messageBytes + 1)
            #expect(await stage.refusal(.invite, by: alice, to: "bob", tooLarge)?.code == .largeParameter)
            for verb in CallVerb.allCases where verb != .invite {
                #expect(await stage.refusal(verb, by: bob, to: "alice")?.reason == .unknownCall)
            }
            try await stage.act(.invite, by: alice, to: "bob", String(tooLarge.dropLast()))
            #expect(await stage.refusal(.accept, by: alice, to: "bob")?.reason == .unknownCall)
            try await stage.act(.acknowledge, by: bob, to: "alice")
            let noDigits = #"{"msgtype":"dtmf","msgdata":"12x"}"#
            #expect(await stage.refusal(.message, by: alice, to: "bob", noDigits)?.code == .wrongParameter)
            #expect(await stage.refusal(.message, by: alice, to: "bob", tooLarge)?.code == .largeParameter)
            #expect(try await stage.mail(of: "bob") == [])
        }
    }

    @Test func callerOfAnOldSessionIsRefused() async throws {
        try await InvitationStage.run { stage in
            let old = try await stage.login("alice", session: "old")
            _ = try await stage.login("alice", session: "new")
            #expect(await stage.refusal(.invite, by: old, to: "bob")?.code == .notLoggedIn)
        }
    }

    @Test func manyActsAtOnceTakeEffectOnce() async throws {
        try await InvitationStage.run(instances: 2) { stage in
            let alice = try await stage.login("alice")
            let bob = try await stage.login("bob")
            try await stage.act(.invite, by: alice, to: "bob")
            try await stage.act(.acknowledge, by: bob, to: "alice")
            try await stage.act(.accept, by: bob, to: "alice")
            try await withThrowingTaskGroup { group in
                for turn in 0..<10 {
                    let (actor, peer) = turn.isMultiple(of: 2) ? (alice, "bob") : (bob, "alice")
                    group.addTask { try await stage.act(.end, by: actor, to: peer) }
                }
                try await group.waitForAll()
            }
            let byes = try await stage.mail(of: "alice") + stage.mail(of: "bob")
            #expect(byes.count { $0.type == "voip_invite_bye" } == 1)
        }
    }

    @Test func manyInvitationsAtOnceMakeOneCall() async throws {
        try await InvitationStage.run(instances: 2) { stage in
            let alice = try await stage.login("alice")
            let bob = try await stage.login("bob")
            let refusals = await withTaskGroup(of: SignalingError?.self) { group in
                for turn in 0..<10 {
                    let (actor, peer) = turn.isMultiple(of: 2) ? (alice, "bob") : (bob, "alice")
                    group.addTask { await stage.refusal(.invite, by: actor, to: peer) }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(refusals.count { $0 == nil } == 1)
            #expect(refusals.count { $0?.code == .inviteReinvite } == 9)
            #expect(try await stage.mail(of: "alice").count + stage.mail(of: "bob").count == 1)
        }
    }
}
