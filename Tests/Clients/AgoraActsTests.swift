import AgoraSigKit
import TestKit
import Testing

extension StackTests {
    @Suite("AgoraAPI: users, messages, channels, calls") struct AgoraActsTests {
        let stack: RunningStack

        init() throws {
            stack = try #require(RunningStack.current)
            AgoraAPI.configure(
                discovery: "http://127.0.0.1:\(stack.gateways[0].port)", "http://127.0.0.1:\(stack.gateways[1].port)")
        }

        private func two() async throws -> (AppUser, AppUser) {
            (
                try await AppUser("alice", app: stack.openApp).loggedIn(),
                try await AppUser("bob", app: stack.openApp).loggedIn()
            )
        }

        @Test func messages() async throws {
            let (alice, bob) = try await two()
            alice.api.messageInstantSend(bob.account, uid: 0, msg: "one two", msgID: "m1")
            try await alice.sees("onMessageSendSuccess m1")
            try await bob.sees("onMessageInstantReceive \(alice.account) one two")
            alice.api.messageInstantSend(bob.account, uid: 0, msg: "", msgID: nil)
            try await alice.sees("onMessageSendSuccess", times: 2)
            #expect(!alice.calls("onMessageSendSuccess").contains("onMessageSendSuccess nil"))
            // The app's ids need not be unique.
            alice.api.messageInstantSend(bob.account, uid: 0, msg: "again", msgID: "m1")
            try await bob.sees("onMessageInstantReceive \(alice.account) again")
            let large = String(repeating: "x", count: 8193)
            alice.api.messageInstantSend(bob.account, uid: 0, msg: large, msgID: "m2")
            try await alice.sees("onMessageSendError m2 1005")
            alice.api.messageChannelSend("nowhere", msg: "x", msgID: "m3")
            try await alice.sees("onMessageSendError m3 400")
            try await bob.leaves()
            bob.api.messageInstantSend(alice.account, uid: 0, msg: "x", msgID: "m4")
            try await bob.sees("onMessageSendError m4 1003")
            try await alice.leaves()
        }

        @Test func users() async throws {
            let (alice, bob) = try await two()
            alice.api.setAttr("colour", value: "blue")
            alice.api.getAttr("colour")
            try await alice.sees("onUserAttrResult \(alice.account) colour blue")
            alice.api.getAttrAll()
            try await alice.sees(#"onUserAttrAllResult \#(alice.account) {"colour":"blue"}"#)
            bob.api.getUserAttr(alice.account, name: "colour")
            try await bob.sees("onUserAttrResult \(alice.account) colour blue")
            bob.api.getUserAttrAll(alice.account)
            try await bob.sees(#"onUserAttrAllResult \#(alice.account) {"colour":"blue"}"#)
            bob.api.queryUserStatus(alice.account)
            try await bob.sees("onQueryUserStatusResult \(alice.account) 1")
            alice.api.setAttr("_nonsense", value: "1")
            try await alice.sees("onError setAttr 1004")
            try await alice.leaves()
            bob.api.queryUserStatus(alice.account)
            try await bob.sees("onQueryUserStatusResult \(alice.account) 0")
            try await bob.leaves()
        }

        @Test func channels() async throws {
            let (alice, bob) = try await two()
            let room = unique("room")
            alice.api.channelJoin(room)
            try await alice.sees("onChannelUserList \(alice.account) 1 true")
            alice.api.channelSetAttr(room, name: "topic", value: "tea")
            try await alice.sees("onChannelAttrUpdated \(room) topic tea update")
            bob.api.channelJoin(room)
            try await bob.sees("onChannelAttrUpdated \(room) topic tea update")
            let joining = bob.lines.filter { $0.hasPrefix("onChannel") }
            let list = "onChannelUserList \(bob.account),\(alice.account) 2 true"
            #expect(joining == ["onChannelJoined \(room)", list, "onChannelAttrUpdated \(room) topic tea update"])
            try await alice.sees("onChannelUserJoined \(bob.account)")
            bob.api.messageChannelSend(room, msg: "hello", msgID: "m1")
            for user in [alice, bob] { try await user.sees("onMessageChannelReceive \(room) \(bob.account) hello") }
            try await bob.sees("onMessageSendSuccess m1")
            bob.api.channelQueryUserNum(room)
            try await bob.sees("onChannelQueryUserNumResult \(room) 0 2")
            bob.api.channelQueryUserIs(in: room, account: alice.account)
            try await bob.sees("onChannelQueryUserIsIn \(room) \(alice.account) 1")
            bob.api.channelQueryUserIs(in: room, account: "nobody")
            try await bob.sees("onChannelQueryUserIsIn \(room) nobody 0")
            bob.api.channelDelAttr(room, name: "topic")
            try await alice.sees("onChannelAttrUpdated \(room) topic  del")
            bob.api.channelClearAttr(room)
            try await alice.sees("onChannelAttrUpdated \(room)   clear")
            bob.api.channelLeave(room)
            try await bob.sees("onChannelLeaved \(room) 602")
            try await alice.sees("onChannelUserLeaved \(bob.account)")
            bob.api.messageChannelSendForce(room, msg: "forced", msgID: nil)
            try await alice.sees("onMessageChannelReceive \(room) \(bob.account) forced")
            bob.api.channelJoin("")
            try await bob.sees("onChannelJoinFailed")
            try await alice.leaves()
            #expect(alice.calls("onChannelLeaved") == ["onChannelLeaved \(room) 603"])
            try await bob.leaves()
        }

        @Test func calls() async throws {
            let (alice, bob) = try await two()
            let room = unique("room")
            alice.api.channelInviteUser(room, account: bob.account, uid: 0)
            try await bob.sees("onInviteReceived \(room) \(alice.account)")
            try await alice.sees("onInviteReceivedByPeer \(room) \(bob.account)")
            alice.api.channelInviteUser2(room, account: bob.account, extra: "{}")
            try await alice.sees("onInviteFailed \(room) \(bob.account) 701")
            bob.api.channelInviteAccept(room, account: alice.account, uid: 0, extra: #"{"a":1}"#)
            try await alice.sees(#"onInviteAcceptedByPeer \#(room) \#(bob.account) {"a":1}"#)
            alice.api.channelInviteDTMF(room, phoneNum: bob.account, dtmf: "12#")
            try await bob.sees("onInviteMsg \(room) \(alice.account) dtmf 12#")
            bob.api.channelInviteEnd(room, account: alice.account, uid: 0)
            try await bob.sees("onInviteEndByMyself \(room) \(alice.account)")
            try await alice.sees("onInviteEndByPeer \(room) \(bob.account)")
            alice.api.channelInviteUser2(room, account: bob.account, extra: "{}")
            try await bob.sees("onInviteReceived \(room) \(alice.account)", times: 2)
            bob.api.channelInviteRefuse(room, account: alice.account, uid: 0, extra: #"{"b":2}"#)
            try await alice.sees(#"onInviteRefusedByPeer \#(room) \#(bob.account) {"b":2}"#)
            try await bob.leaves()
            alice.api.channelInviteUser2(room, account: bob.account, extra: #"{"_require_peer_online":1}"#)
            try await alice.sees("onInviteFailed \(room) \(bob.account) 703")
            try await alice.leaves()
        }

        @Test("The obsolete calls are the same calls")
        func obsoleteCalls() async throws {
            let (alice, bob) = try await two()
            let room = unique("room")
            alice.api.messageDTMFSend(0, msg: "1", msgID: "d0")
            try await alice.sees("onMessageSendError d0 400")
            alice.api.channelInvitePhone3(room, phoneNum: bob.account, sourcesNum: "555", extra: #"{"k":1}"#)
            try await bob.sees(#"onInviteReceived \#(room) \#(alice.account) {"k":1,"srcNum":"555"}"#)
            bob.api.channelInviteAccept(room, account: alice.account, uid: 0, extra: "")
            try await alice.sees("onInviteAcceptedByPeer \(room) \(bob.account)")
            alice.api.messageDTMFSend(0, msg: "9", msgID: "d1")
            try await alice.sees("onMessageSendSuccess d1")
            try await bob.sees("onInviteMsg \(room) \(alice.account) dtmf 9")
            alice.api.channelInviteEnd(room, account: bob.account, uid: 0)
            try await bob.sees("onInviteEndByPeer \(room) \(alice.account)")
            alice.api.channelInvitePhone2(room, phoneNum: bob.account, sourcesNum: "777")
            try await bob.sees(#"onInviteReceived \#(room) \#(alice.account) {"srcNum":"777"}"#)
            alice.api.channelInviteEnd(room, account: bob.account, uid: 0)
            try await bob.sees("onInviteEndByPeer \(room) \(alice.account)", times: 2)
            alice.api.channelInvitePhone(room, phoneNum: bob.account, uid: 0)
            try await bob.sees("onInviteReceived \(room) \(alice.account)", times: 3)
            try await alice.leaves()
            try await bob.leaves()
        }

        @Test func invoke() async throws {
            let alice = try await AppUser("alice", app: stack.openApp).loggedIn()
            let room = unique("room")
            alice.api.channelJoin(room)
            try await alice.sees("onChannelJoined \(room)")
            let me = #""account":"\#(alice.account)""#
            for (function, request, found) in [
                ("user_query_user_status", "{\(me)}", #""status":1"#),
                ("user_set_attr", #"{"name":"n","value":"v"}"#, #""result":"ok""#),
                ("user_get_attr", #"{\#(me),"name":"n"}"#, #""value":"v""#),
                ("user_get_attr_all", "{\(me)}", "json"),
                ("channel_set_attr", #"{"channel":"\#(room)","name":"n","value":"v"}"#, #""result":"ok""#),
                ("channel_del_attr", #"{"channel":"\#(room)","name":"n"}"#, #""result":"ok""#),
                ("channel_clear_attr", #"{"channel":"\#(room)"}"#, #""result":"ok""#),
                ("channel_query_num", #"{"name":"\#(room)"}"#, #""num":1"#),
                ("channel_query_user_isin", #"{"name":"\#(room)",\#(me)}"#, #""isin":1"#),
                ("channel_query_userlist", #"{"name":"\#(room)"}"#, alice.account),
                ("channel_query_userlist_all", #"{"name":"\#(room)","num":5}"#, alice.account),
            ] {
                alice.api.invoke("io.agora.signal.\(function)", req: request, callID: function)
                try await alice.sees("onInvokeRet \(function)")
                let answer = alice.calls("onInvokeRet \(function)").first ?? ""
                #expect(answer.hasPrefix("onInvokeRet \(function)  {") && answer.contains(found), "\(answer)")
            }
            alice.api.invoke("io.agora.signal.nonsense", req: "{}", callID: "e1")
            try await alice.sees("onInvokeRet e1 1002")
            alice.api.invoke("io.agora.signal.user_get_attr", req: "no JSON", callID: "e2")
            try await alice.sees("onInvokeRet e2 1004")
            try await alice.leaves()
        }
    }
}
