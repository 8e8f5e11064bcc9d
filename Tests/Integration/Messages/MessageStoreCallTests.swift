import BusProtocol
import MessageStore
import RedisClient
import SignalingProtocol
import Testing

@Suite struct MessageStoreCallTests {
    private func event(
        _ type: String = "voip_invite_ack", call: String = "c1", knownBy: String? = nil, invitedAt: Int64? = nil
    ) -> UserMessage.Condition {
        .callEvent(type: type, call: call, knownBy: knownBy.map(SessionID.init), invitedAt: invitedAt)
    }

    @Test func anEventIsOnlyForTheSessionThatKnowsTheCall() async throws {
        try await MessageStoreScene.run { scene in
            let dropped = MessageQueued(version: 0, online: false)
            #expect(try await scene.send("nobody", event(knownBy: "s1")) == dropped)
            try await scene.openSession("s2")
            #expect(try await scene.send("another", event(knownBy: "s1")) == dropped)
            #expect(try await scene.send("nothing known", event()) == dropped)
            try await scene.openSession("s1")
            #expect(try await scene.send("the one", event(knownBy: "s1")).online)
            try await scene.openSession("s1", state: "detached")
            #expect(try await scene.send("the one, away", event(knownBy: "s1")).online)
            #expect(try await scene.lines() == ["the one", "the one, away"])
        }
    }

    @Test func anInvitedSessionKnowsTheCall() async throws {
        try await MessageStoreScene.run { scene in
            try await scene.openSession("s1", openver: 5)
            let invitation = try await scene.send("invite", .invitation(call: "c1")).version
            // Still shown to the session that was there at the time, even though it has cleared it.
            try await scene.clear(through: invitation)
            #expect(try await scene.send("bye", event("voip_invite_bye", invitedAt: invitation)).online)
        }
    }

    @Test func aLaterSessionKnowsTheCallWhileTheInvitationWaits() async throws {
        try await MessageStoreScene.run { scene in
            let invitation = try await scene.send("invite", .invitation(call: "c1")).version
            try await scene.openSession("s1", openver: invitation)
            #expect(
                try await scene.send("bye", event("voip_invite_bye", invitedAt: invitation)).version == invitation + 1)
            try await scene.store.removeMail(scene.user, version: invitation)
            #expect(try await scene.send("bye", event("voip_invite_bye", invitedAt: invitation)).version == 0)
        }
    }

    @Test func aFreshSessionIsSparedTheCallsOfEarlierOnes() async throws {
        try await MessageStoreScene.run { scene in
            try await scene.openSession("s1")
            _ = try await scene.send("a message")
            _ = try await scene.send("invite 1", .invitation(call: "c1"))
            _ = try await scene.send("ack", event(call: "c0", knownBy: "s1"))
            _ = try await scene.send("invite 2", .invitation(call: "c2"))
            _ = try await scene.send("bye 1", event("voip_invite_bye", call: "c1", knownBy: "s1"))
            _ = try await scene.send("failed", event("voip_invite_failed", call: "c3", knownBy: "s1"))
            let opened = try await scene.send("accept", event("voip_invite_accept", call: "c0", knownBy: "s1")).version
            #expect(try await scene.read().entries.count == 7)
            // After a new login, later events belong to the new session.
            try await scene.openSession("s2", openver: opened)
            _ = try await scene.send("ack of s2's call", event(call: "c4", knownBy: "s2"))
            let page = try await scene.read(fresh: true)
            #expect(page.entries.map(\.line) == ["a message", "invite 2", "ack of s2's call"])
            #expect(try await scene.lines() == ["a message", "invite 2", "ack of s2's call"])
        }
    }

    @Test func aByeForAnInvitationStillWaitingReachesTheNewSession() async throws {
        try await MessageStoreScene.run { scene in
            let invitation = try await scene.send("invite", .invitation(call: "c1")).version
            try await scene.openSession("s1", openver: invitation)
            _ = try await scene.send("bye", event("voip_invite_bye", invitedAt: invitation))
            #expect(try await scene.read(fresh: true).entries.map(\.line) == ["invite", "bye"])
        }
    }

    @Test func aDroppedEventStaysDroppedWhenRepeated() async throws {
        try await MessageStoreScene.run { scene in
            let command = CommandID("c1")
            #expect(try await scene.send("ack", event(knownBy: "s1"), command: command).version == 0)
            try await scene.openSession("s1")
            #expect(try await scene.send("ack", event(knownBy: "s1"), command: command).version == 0)
        }
    }
}
