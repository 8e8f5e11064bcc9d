import BusProtocol
import PostgresStore
import SignalingProtocol
import SignalingWire
import Testing

/// Callees who are offline, callers who give up, and sessions that end.
@Suite struct InvitationAbsenceTests {
    @Test(arguments: [#"{"_require_peer_online":1}"#, #"{"_timeout":0}"#])
    func absentCalleeFailsAtOnceAndOnce(extra: String) async throws {
        try await InvitationStage.run { stage in
            let alice = try await stage.login("alice")
            try await stage.act(.invite, by: alice, to: "bob", extra)
            let mail = try await stage.mail(of: "alice")
            #expect(mail.map(\.type) == ["voip_invite_failed"])
            #expect(mail.first?.peer == "bob")
            #expect(mail.first?.extra == #"{"code":703,"reason":"peer_offline"}"#)
            #expect(try await stage.mail(of: "bob") == [])
            try await stage.expectLog(["bob 703"])
        }
    }

    /// After a week Redis has forgotten the user, but callers are still given the uid of its login.
    @Test func anAbsentCalleeHasItsNumber() async throws {
        try await InvitationStage.run { stage in
            let alice = try await stage.login("alice")
            let users = [try Account("carol"), try Account("bob")].map { UserKey(app: stage.app, account: $0) }
            let logins = try await UserStore(pool: stage.pool).logins(of: users)
            for name in ["bob", "nobody"] {
                try await stage.act(.invite, by: alice, to: name, #"{"_require_peer_online":1}"#)
            }
            let numbers = try await stage.mail(of: "alice").map { $0.content["peeruid"] }
            #expect(numbers == [.number("\(logins[1].uid)"), .number("0")])
        }
    }

    @Test func invitationOfAnAbsentCalleeIsDestroyedAfterItsTime() async throws {
        try await InvitationStage.run { stage in
            let alice = try await stage.login("alice")
            try await stage.act(.invite, by: alice, to: "bob", #"{"_timeout":1}"#)
            #expect(try await stage.mail(of: "bob").map(\.type) == ["voip_invite"])
            try await stage.expectMail(of: "alice", ["voip_invite_failed"])
            #expect(try await stage.mail(of: "alice").first?.extra == #"{"code":703,"reason":"peer_offline"}"#)
            try await stage.expectMail(of: "bob", [])
            try await stage.expectLog(["bob 703"])
        }
    }

    @Test func silentCalleeFailsWithATimeout() async throws {
        try await InvitationStage.run { stage in
            let alice = try await stage.login("alice")
            let bob = try await stage.login("bob")
            try await stage.act(.invite, by: alice, to: "bob", #"{"_timeout":1}"#)
            try await stage.expectMail(of: "alice", ["voip_invite_failed"])
            #expect(try await stage.mail(of: "alice").first?.extra == #"{"code":704,"reason":"timeout"}"#)
            try await stage.expectMail(of: "bob", [])
            // If the callee's client read the invitation at that moment, its acknowledgement proves it.
            try await stage.act(.acknowledge, by: bob, to: "alice")
            try await stage.expectMail(of: "bob", ["voip_invite_bye"])
            #expect(try await stage.mail(of: "alice").count == 1)
        }
    }

    @Test func calleeWhoComesInTimeGetsTheInvitation() async throws {
        try await InvitationStage.run { stage in
            let alice = try await stage.login("alice")
            try await stage.act(.invite, by: alice, to: "bob")
            let bob = try await stage.login("bob", uid: 22)
            #expect(try await stage.mail(of: "bob", fresh: true).map(\.type) == ["voip_invite"])
            try await stage.act(.acknowledge, by: bob, to: "alice")
            try await stage.act(.refuse, by: bob, to: "alice")
            #expect(try await stage.mail(of: "alice").map(\.type) == ["voip_invite_ack", "voip_invite_refuse"])
        }
    }

    @Test func cancelledInvitationIsNeverSeen() async throws {
        try await InvitationStage.run { stage in
            let alice = try await stage.login("alice")
            try await stage.act(.invite, by: alice, to: "bob")
            try await stage.act(.end, by: alice, to: "bob")
            #expect(try await stage.mail(of: "bob") == [])
            _ = try await stage.login("bob")
            #expect(try await stage.mail(of: "bob", fresh: true) == [])
        }
    }

    @Test func onlineCalleeSeesTheInvitationAndItsEnd() async throws {
        try await InvitationStage.run { stage in
            let alice = try await stage.login("alice")
            _ = try await stage.login("bob")
            try await stage.act(.invite, by: alice, to: "bob")
            try await stage.act(.message, by: alice, to: "bob", "hello")
            try await stage.act(.end, by: alice, to: "bob")
            #expect(
                try await stage.mail(of: "bob").map(\.type) == ["voip_invite", "voip_invite_msg", "voip_invite_bye"])
            _ = try await stage.login("bob", session: "next")
            #expect(try await stage.mail(of: "bob", fresh: true) == [], "but not at the next login")
        }
    }

    @Test func ringingEndsAtTheLimit() async throws {
        try await InvitationStage.run(ringLimit: .seconds(1)) { stage in
            let alice = try await stage.login("alice")
            let bob = try await stage.login("bob")
            try await stage.act(.invite, by: alice, to: "bob")
            try await stage.act(.acknowledge, by: bob, to: "alice")
            try await stage.expectMail(of: "alice", ["voip_invite_ack", "voip_invite_failed"])
            try await stage.expectMail(of: "bob", ["voip_invite_bye"])
            #expect(try await stage.mail(of: "alice").last?.extra == #"{"code":704,"reason":"timeout"}"#)
            try await stage.expectLog(["bob 704 acknowledged"])
        }
    }

    @Test func callersSessionEndsWhileItRings() async throws {
        try await InvitationStage.run { stage in
            let alice = try await stage.login("alice")
            let bob = try await stage.login("bob")
            try await stage.act(.invite, by: alice, to: "bob")
            try await stage.act(.acknowledge, by: bob, to: "alice")
            try await stage.logout(alice)
            try await stage.expectMail(of: "bob", ["voip_invite_bye"])
            try await stage.expectLog(["bob 703 acknowledged"])
        }
    }

    @Test func calleesSessionEndsInTheCall() async throws {
        try await InvitationStage.run { stage in
            let alice = try await stage.login("alice")
            let bob = try await stage.login("bob")
            try await stage.act(.invite, by: alice, to: "bob")
            try await stage.act(.accept, by: bob, to: "alice")
            try await stage.logout(bob)
            try await stage.expectMail(of: "alice", ["voip_invite_accept", "voip_invite_bye"])
            let again = try await stage.login("bob", session: "next")
            try await stage.act(.invite, by: alice, to: "bob")
            try await stage.act(.acknowledge, by: again, to: "alice")
        }
    }

    @Test func calleesSessionEndsBeforeItsAcknowledgement() async throws {
        try await InvitationStage.run { stage in
            let alice = try await stage.login("alice")
            let bob = try await stage.login("bob")
            try await stage.act(.invite, by: alice, to: "bob")
            try await stage.logout(bob)
            let again = try await stage.login("bob", session: "next")
            #expect(try await stage.mail(of: "bob", fresh: true).map(\.type) == ["voip_invite"])
            try await stage.act(.acknowledge, by: again, to: "alice")
            #expect(try await stage.mail(of: "alice").map(\.type) == ["voip_invite_ack"])
        }
    }

    @Test func newLoginsOfBothSeeNothingOfAnOldCall() async throws {
        try await InvitationStage.run { stage in
            let alice = try await stage.login("alice")
            let bob = try await stage.login("bob")
            try await stage.act(.invite, by: alice, to: "bob")
            try await stage.act(.accept, by: bob, to: "alice")
            _ = try await stage.login("alice", session: "alice-2")
            _ = try await stage.login("bob", session: "bob-2")
            try await stage.act(.end, by: alice, to: "bob")
            #expect(try await stage.mail(of: "alice", fresh: true) == [])
            #expect(try await stage.mail(of: "bob", fresh: true) == [])
        }
    }
}
