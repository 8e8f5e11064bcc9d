import BusProtocol
import InvitationLogic
import PostgresStore
import SignalingProtocol
import TestKit
import Testing

/// Calls in which an app's server acts in the name of an account, over a real Redis and PostgreSQL.
@Suite struct InvitationServerTests {
    private func server(_ account: String, on stage: InvitationStage) throws -> Actor {
        Actor(user: UserKey(app: stage.app, account: try Account(account)), uid: 0, session: .server)
    }

    private func find(_ call: String, of account: String, on stage: InvitationStage) async throws -> FoundCall {
        try await stage.send(FindCall(user: UserKey(app: stage.app, account: try Account(account)), call: call))
    }

    /// The id of the only call.
    private func call(on stage: InvitationStage) async throws -> String {
        try await waitUntil("the call log") {
            try await stage.pool.query("SELECT id FROM calls").isEmpty ? "it has no call" : nil
        }
        return try #require(try await stage.pool.query("SELECT id FROM calls").first).string("id")
    }

    @Test func aCallFromTheServer() async throws {
        try await InvitationStage.run { stage in
            // Alice has a client, which the call is none of.
            let alice = try await stage.login("alice", uid: 11)
            let bob = try await stage.login("bob", uid: 22)
            let server = try server("alice", on: stage)
            try await stage.act(.invite, by: server, to: "bob", #"{"n":1}"#)
            #expect(
                try await stage.mail(of: "bob").map(\.description) == [
                    "voip_invite from alice: "
                        + #"{"channel":"a room","peer":"alice","extra":"{\"n\":1}","peeruid":11}"#
                ], "as of an invitation by alice's client")
            let call = try await call(on: stage)
            #expect(try await find(call, of: "alice", on: stage).peer.rawValue == "bob")
            await #expect(throws: SignalingError.self) { try await find(call, of: "bob", on: stage) }
            try await stage.act(.acknowledge, by: bob, to: "alice")
            #expect(
                try await find(call, of: "bob", on: stage)
                    == FoundCall(channel: stage.channel, peer: alice.user.account))
            #expect(await stage.refusal(.invite, by: server, to: "bob")?.reason == .reinvite)
            try await stage.act(.accept, by: bob, to: "alice")
            try await stage.logout(alice)
            var digits = CallAct(verb: .message, actor: server, channel: stage.channel, peer: "bob", extra: "7")
            digits.call = "another"
            let other = await #expect(throws: SignalingError.self) { try await stage.send(digits) }
            #expect(other?.reason == .unknownCall)
            digits.call = call
            _ = try await stage.send(digits)
            var end = CallAct(verb: .end, actor: server, channel: stage.channel, peer: "bob", extra: "")
            end.call = call
            _ = try await stage.send(end)
            try await stage.expectMail(of: "bob", ["voip_invite_msg", "voip_invite_bye"])
            #expect(try await stage.mail(of: "alice") == [])
            try await stage.expectLog(["bob 0 acknowledged accepted"])
            await #expect(throws: SignalingError.self) { try await find(call, of: "alice", on: stage) }
        }
    }

    @Test func theServerEndsACallOfTwoUsers() async throws {
        try await InvitationStage.run { stage in
            let alice = try await stage.login("alice")
            let bob = try await stage.login("bob")
            try await stage.act(.invite, by: alice, to: "bob")
            try await stage.act(.acknowledge, by: bob, to: "alice")
            let call = try await call(on: stage)
            var end = CallAct(
                verb: .end, actor: try server("bob", on: stage), channel: stage.channel, peer: "alice", extra: "")
            end.call = call
            // Without an entry in the audit trail it goes on.
            _ = try await stage.pool.query(
                "ALTER TABLE audit_entries ADD CONSTRAINT none CHECK (act <> 'call.end') NOT VALID")
            let refusal = await #expect(throws: SignalingError.self) { try await stage.send(end) }
            #expect(refusal?.reason == .refusedByPostgres)
            #expect(try await find(call, of: "bob", on: stage).peer.rawValue == "alice")
            _ = try await stage.pool.query("ALTER TABLE audit_entries DROP CONSTRAINT none")
            _ = try await stage.send(end)
            let noted = try await stage.pool.query(
                "SELECT subject || ' ' || (details ->> 'call') AS line FROM audit_trail WHERE act = 'call.end'")
            #expect(try noted.map { try $0.string("line") } == ["bob \(call)"])
            try await stage.expectMail(of: "bob", ["voip_invite_bye"])
            try await stage.expectMail(of: "alice", ["voip_invite_ack", "voip_invite_bye"])
            await #expect(throws: SignalingError.self, "it is over") { try await find(call, of: "bob", on: stage) }
        }
    }

    @Test func aTelephoneIsCalledForTheServer() async throws {
        try await InvitationStage.runWithBridge { stage, bridge in
            try await stage.setTrunk()
            let server = try server("alice", on: stage)
            try await stage.act(.invite, by: server, to: StageBridge.telephone)
            let request = try await bridge.dialled()
            #expect(request.call.user.rawValue == "alice")
            #expect(try await bridge.report(.claimed, in: request.call))
            #expect(try await bridge.report(.ringing, in: request.call))
            #expect(try await bridge.report(.accepted, in: request.call))
            let call = request.call.id
            #expect(try await find(call, of: "alice", on: stage).peer.rawValue == StageBridge.telephone)
            try await stage.act(.message, by: server, to: StageBridge.telephone, #"{"msgtype":"dtmf","msgdata":"1"}"#)
            try await stage.act(.end, by: server, to: StageBridge.telephone)
            try await bridge.expectOrders([#"message {"msgtype":"dtmf","msgdata":"1"}"#, "end "])
            #expect(try await stage.mail(of: "alice") == [], "the server has no mailbox")
        }
    }
}
