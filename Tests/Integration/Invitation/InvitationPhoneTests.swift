import BusProtocol
import ClusterBus
import ClusterState
import PostgresStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// Calls between users and telephones; the test plays the sip-bridge.
@Suite struct InvitationPhoneTests {
    private static let number = StageBridge.telephone

    @Test func outboundCallWithDigits() async throws {
        try await InvitationStage.runWithBridge(instances: 2) { stage, bridge in
            try await stage.setTrunk()
            let alice = try await stage.login("alice")
            try await stage.act(.invite, by: alice, to: Self.number, #"{"srcNum":"100"}"#)
            let request = try await bridge.dialled()
            #expect(request.extra == #"{"srcNum":"100"}"#)
            #expect(request.call.user == alice.user.account && request.call.phone.rawValue == Self.number)
            #expect(request.call.channel == ChannelKey(app: stage.app, name: stage.channel))
            let call = request.call
            #expect(try await bridge.report(.claimed, in: call, record: PhoneRecord(sipCallID: "id@b")))
            #expect(try await bridge.report(.ringing, in: call))
            #expect(
                try await bridge.report(.accepted, in: call, record: PhoneRecord(status: 200, reason: "OK")))
            try await stage.expectMail(of: "alice", ["voip_invite_ack", "voip_invite_accept"])
            #expect(try await stage.mail(of: "alice").last?.peer == Self.number)
            for digit in ["1", "2", "3,#"] {
                try await stage.act(.message, by: alice, to: Self.number, #"{"msgtype":"dtmf","msgdata":"\#(digit)"}"#)
            }
            #expect(try await bridge.report(.message, in: call, #"{"msgtype":"dtmf","msgdata":"9"}"#))
            try await stage.expectMail(of: "alice", ["voip_invite_ack", "voip_invite_accept", "voip_invite_msg"])
            try await stage.act(.end, by: alice, to: Self.number, "done")
            try await bridge.expectOrders(
                ["1", "2", "3,#"].map { #"message {"msgtype":"dtmf","msgdata":"\#($0)"}"# } + ["end done"])
            #expect(try await bridge.report(.ended(.success), in: call) == false)
            try await stage.expectPhoneLog(["outbound +49301234 0 200 OK id@b"])
        }
    }

    @Test func refusalAndFailure() async throws {
        try await InvitationStage.runWithBridge { stage, bridge in
            try await stage.setTrunk()
            let alice = try await stage.login("alice")
            let failure = #"{"code":700,"reason":"rejected","sip_status":404,"sip_reason":"Not Found"}"#
            for (number, act, status) in [("111", PhoneAct.refused, 486), ("222", .failed(.inviteOther), 404)] {
                try await stage.act(.invite, by: alice, to: number)
                let call = try await bridge.dialled(number == "111" ? 1 : 2).call
                #expect(try await bridge.report(.claimed, in: call))
                let record = PhoneRecord(status: status, reason: "No")
                #expect(try await bridge.report(act, in: call, failure, record: record) == false)
            }
            try await stage.expectMail(of: "alice", ["voip_invite_refuse", "voip_invite_failed"])
            #expect(try await stage.mail(of: "alice").last?.extra == failure)
            try await stage.expectPhoneLog(["outbound 111 700 486 No", "outbound 222 700 404 No"])
        }
    }

    @Test func oneOfTwoBridgesHasTheCall() async throws {
        try await InvitationStage.run { stage in
            try await stage.setTrunk()
            let first = try await StageBridge(on: stage, takesCalls: false)
            let second = try await StageBridge(on: stage)
            let alice = try await stage.login("alice")
            try await stage.act(.invite, by: alice, to: Self.number)
            let call = try await second.dialled().call
            #expect(try await first.report(.claimed, in: call))
            #expect(try await second.report(.claimed, in: call) == false)
            #expect(try await second.report(.accepted, in: call) == false)
            #expect(try await first.report(.claimed, in: call), "asked again")
            #expect(try await stage.mail(of: "alice") == [])
            await first.kill()
            await second.kill()
        }
    }

    @Test func redeliveredReportTakesEffectOnce() async throws {
        try await InvitationStage.runWithBridge { stage, bridge in
            try await stage.setTrunk()
            let alice = try await stage.login("alice")
            let call = try await bridge.claimCall(of: alice)
            for act in [PhoneAct.ringing, .accepted, .message] {
                let report = PhoneReport(call: call, bridge: bridge.id, act: act, extra: "", record: PhoneRecord())
                for _ in 0..<3 {
                    _ = try await stage.connection.execute(
                        PostedCommand.command(on: .single, for: report, id: CommandID("repeated-\(act)")))
                }
                try await waitUntil("all are taken") {
                    let posts = RedisCommand("XLEN", .string(KeySpace.posts(.invitation)))
                    return try await stage.connection.execute(posts).int == 0 ? nil : "posts left"
                }
            }
            try await stage.expectMail(of: "alice", ["voip_invite_ack", "voip_invite_accept", "voip_invite_msg"])
        }
    }

    @Test func ringLimitIsTheTrunks() async throws {
        try await InvitationStage.runWithBridge { stage, bridge in
            try await stage.setTrunk(ringTime: .seconds(1))
            let alice = try await stage.login("alice")
            let call = try await bridge.claimCall(of: alice)
            #expect(try await bridge.report(.ringing, in: call))
            try await bridge.expectOrders([#"end {"code":704,"reason":"timeout"}"#])
            try await stage.expectMail(of: "alice", ["voip_invite_ack", "voip_invite_failed"])
            #expect(try await bridge.report(.accepted, in: call) == false)
            try await stage.expectPhoneLog(["outbound +49301234 704"])
        }
    }

    @Test func sessionOfTheCallerEnds() async throws {
        try await InvitationStage.runWithBridge { stage, bridge in
            try await stage.setTrunk()
            let alice = try await stage.login("alice")
            let call = try await bridge.claimCall(of: alice)
            #expect(try await bridge.report(.accepted, in: call))
            try await stage.logout(alice)
            try await bridge.expectOrders([#"end {"code":703,"reason":"peer_offline"}"#])
            #expect(try await bridge.report(.message, in: call) == false)
        }
    }

    // MARK: Inbound

    @Test func inboundCall() async throws {
        try await InvitationStage.runWithBridge { stage, bridge in
            let alice = try await stage.login("alice")
            let (call, continues) = try await bridge.invite("alice", call: "b-1", extra: #"{"srcNum":"+49301234"}"#)
            #expect(continues)
            try await stage.expectMail(of: "alice", ["voip_invite"])
            let mail = try #require(try await stage.mail(of: "alice").first)
            #expect(mail.peer == Self.number && mail.extra == #"{"srcNum":"+49301234"}"#)
            for verb in [CallVerb.acknowledge, .accept, .message] {
                _ = try await stage.send(
                    CallAct(verb: verb, actor: alice, channel: call.channel.name, peer: Self.number, extra: "7"))
            }
            try await bridge.expectOrders(["ringing 7", "accept 7", "message 7"])
            #expect(try await bridge.report(.message, in: call, "8"))
            #expect(try await bridge.report(.ended(.success), in: call) == false)
            try await stage.expectMail(of: "alice", ["voip_invite_msg", "voip_invite_bye"])
            try await stage.expectPhoneLog(["inbound +49301234 0 id@b-1"])
        }
    }

    @Test func inboundToNobodyLeavesNoTrace() async throws {
        try await InvitationStage.runWithBridge { stage, bridge in
            #expect(try await bridge.invite("alice", call: "b-1").continues == false)
            _ = try await stage.login("alice")
            #expect(try await stage.mail(of: "alice", fresh: true) == [])
            try await stage.expectPhoneLog(["inbound +49301234 703 id@b-1"])
        }
    }

    @Test func inboundRefusedUnansweredAndGivenUp() async throws {
        try await InvitationStage.runWithBridge { stage, bridge in
            let alice = try await stage.login("alice")
            let refused = try await bridge.invite("alice", call: "b-1").0
            _ = try await stage.send(
                CallAct(verb: .refuse, actor: alice, channel: refused.channel.name, peer: Self.number, extra: "no"))
            try await bridge.expectOrders(["refuse no"])
            _ = try await bridge.invite("alice", call: "b-2", ring: 500)
            try await bridge.expectOrders(["refuse no", #"fail {"code":704,"reason":"timeout"}"#])
            let cancelled = try await bridge.invite("alice", call: "b-3").0
            #expect(try await bridge.report(.ended(.success), in: cancelled) == false)
            try await stage.expectMail(of: "alice", ["voip_invite", "voip_invite_bye"])
            try await stage.expectPhoneLog([
                "inbound +49301234 700 id@b-1", "inbound +49301234 704 id@b-2", "inbound +49301234 0 id@b-3",
            ])
        }
    }
}
