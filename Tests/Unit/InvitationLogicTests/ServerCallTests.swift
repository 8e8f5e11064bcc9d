import BusProtocol
import InvitationLogic
import SignalingProtocol
import Testing

/// Calls in which an app's server acts in the name of a party.
@Suite struct ServerCallTests {
    private static func server(as actor: Actor) -> Actor {
        var actor = actor
        actor.session = .server
        return actor
    }

    private static func invited() throws -> CallScript {
        var script = try CallScript.none()
        let lines = try script.invite(by: server(as: script.alice), extra: "{}")
        #expect(lines.contains { $0.hasPrefix("invite bob voip_invite c1 from alice/11 [{}] to anyone") })
        #expect(lines.contains("remember c1 of alice"))
        _ = script.queued()
        return script
    }

    @Test func theCallersClientsLearnNothing() throws {
        var script = try Self.invited()
        for line in try script.acknowledge() + script.accept() { #expect(!line.hasPrefix("tell alice"), "\(line)") }
        #expect(script.phase == "accepted")
        #expect(script.lose(script.alice) == [], "a session of the caller has no part in it")
        #expect(try script.message(by: Self.server(as: script.alice), extra: "7").count == 1)
        #expect(
            try script.end(by: script.bob) == [
                "forget c1 of alice", "forget c1 of bob", "log c1 ended ended_by_callee 0",
            ])
    }

    @Test func theServersInvitationEndsNoCall() throws {
        for var script in [try CallScript.waiting(), try CallScript.ringing(), try CallScript.accepted()] {
            let phase = script.phase
            for actor in [script.alice, script.bob] {
                let peer = actor == script.alice ? "bob" : "alice"
                let server = Self.server(as: actor)
                let error = #expect(throws: SignalingError.self) { try script.invite("c2", by: server, peer: peer) }
                #expect(error?.reason == .reinvite)
            }
            #expect(script.phase == phase)
        }
    }

    @Test func anEndByTheServerIsToldToBoth() throws {
        for var script in [try CallScript.ringing(), try CallScript.accepted()] {
            let lines = try script.end(by: Self.server(as: script.bob), extra: "over")
            #expect(lines.contains("tell alice voip_invite_bye c1 from bob/22 [over] to alice-session for 120000"))
            #expect(lines.contains("tell bob voip_invite_bye c1 from alice/11 [over] to bob-session for 120000"))
            #expect(script.phase == "ended: ended_by_callee")
            #expect(try script.end(by: Self.server(as: script.alice)) == [], "it is over")
        }
        var script = try CallScript.waiting()
        let lines = try script.end(by: Self.server(as: script.alice), extra: "over")
        #expect(lines.contains { $0.hasPrefix("tell alice voip_invite_bye c1 from bob/22 [over] to alice-session") })
        #expect(lines.contains { $0.hasPrefix("tell bob voip_invite_bye c1 from alice/11 [over] to invited by 7") })
        #expect(lines.contains { $0.hasPrefix("cancel acknowledgement of c1") })
        #expect(script.phase == "ended: ended_by_caller")
    }

    @Test func strangersCannotBeActedFor() throws {
        var script = try CallScript.ringing()
        let user = UserKey(app: script.alice.user.app, account: try Account("eve"))
        let eve = Actor(user: user, uid: 33, session: .server)
        let error = #expect(throws: SignalingError.self) { try script.end(by: eve) }
        #expect(error?.reason == .unknownCall)
        var empty = try CallScript.none()
        let none = #expect(throws: SignalingError.self) { try empty.end(by: Self.server(as: empty.alice)) }
        #expect(none?.reason == .unknownCall)
    }

    @Test func callsAreToldApartByTheirIDs() throws {
        let script = try CallScript.ringing()
        try script.machine.require(CallID("c1"))
        #expect(throws: SignalingError.self) { try script.machine.require(CallID("c2")) }
        let snapshot = try #require(script.machine.snapshot)
        #expect(snapshot.peer(of: script.alice.user.account, in: CallID("c1")) == script.bob.user.account)
        #expect(snapshot.peer(of: script.bob.user.account, in: CallID("c1")) == script.alice.user.account)
        #expect(snapshot.peer(of: try Account("eve"), in: CallID("c1")) == nil)
        #expect(snapshot.peer(of: script.alice.user.account, in: CallID("c2")) == nil)
        let ended = try #require(try CallScript.ended().machine.snapshot)
        #expect(ended.peer(of: script.alice.user.account, in: CallID("c1")) == nil)
    }
}
