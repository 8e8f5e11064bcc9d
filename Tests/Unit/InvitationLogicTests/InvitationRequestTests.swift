import InvitationLogic
import SignalingProtocol
import Testing

/// Checks of what clients send.
@Suite struct InvitationRequestTests {
    @Test(arguments: [
        ("", false, 20_000), ("{}", false, 20_000), ("hello", false, 20_000), ("[1]", false, 20_000),
        (#"{"_timeout":5}"#, false, 5_000), (#"{"_timeout":"7"}"#, false, 7_000), (#"{"_timeout":180}"#, false, 30_000),
        (#"{"_timeout":-3}"#, false, 0), (#"{"_timeout":0}"#, false, 0), (#"{"_timeout":1e30}"#, false, 30_000),
        (#"{"_timeout":null}"#, false, 20_000), (#"{"_timeout":"soon"}"#, false, 20_000),
        (#"{"_timeout":"nan"}"#, false, 20_000), (#"{"_require_peer_online":1}"#, true, 20_000),
        (#"{"_require_peer_online":"1","_timeout":30}"#, true, 30_000), (#"{"_require_peer_online":0}"#, false, 20_000),
    ])
    func options(extra: String, requiresPeerOnline: Bool, timeout: Int64) {
        let expected = InvitationOptions(requiresPeerOnline: requiresPeerOnline, timeout: timeout)
        #expect(InvitationOptions(extra: extra) == expected)
    }

    @Test func peers() throws {
        let script = try CallScript()
        func code(_ peer: String, extra: String = "") -> SignalingCode? {
            do {
                _ = try InvitationRequest(
                    call: CallID("c"), caller: script.alice, channel: script.channel, peer: peer, extra: extra)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code("bob") == nil)
        #expect(code("alice") == .wrongParameter)
        #expect(code("") == .wrongParameter)
        #expect(code("b b") == .wrongParameter)
        #expect(code("bob", extra: String(repeating: "é", count: 4096)) == nil)
        #expect(code("bob", extra: String(repeating: "é", count: 4096) + "x") == .largeParameter)
    }

    @Test func routes() throws {
        #expect(try CallRoute(callee: "+8613800138000") == .telephone(try Account("+8613800138000")))
        for user in ["bob", "+", "+86x", "8613800138000", "+123456789012345678901", "+٣"] {
            #expect(try CallRoute(callee: user) == .user(try Account(user)))
        }
    }

    @Test(arguments: [
        (#"{"msgtype":"dtmf","msgdata":"0123456789*#ABCD"}"#, true), (#"{"msgtype":"dtmf","msgdata":5}"#, true),
        (#"{"msgtype":"dtmf","msgdata":"12x"}"#, false), (#"{"msgtype":"dtmf","msgdata":""}"#, false),
        (#"{"msgtype":"dtmf"}"#, false), (#"{"msgtype":"dtmf","msgdata":-5}"#, false),
        (#"{"msgtype":"dtmf","msgdata":"a"}"#, false), (#"{"msgtype":"other","msgdata":"x"}"#, true), ("", true),
        ("free text", true), ("[]", true),
    ])
    func messages(extra: String, passes: Bool) {
        let passed = (try? CallMessage.check(extra)) != nil
        #expect(passed == passes)
    }

    @Test func endsHaveCodesAndJSON() {
        #expect(CallEnd.notAnswered.extra == #"{"code":704,"reason":"timeout"}"#)
        #expect(CallEnd.calleeOffline.extra == #"{"code":703,"reason":"peer_offline"}"#)
        for end in CallEnd.allCases { #expect(end.extra.contains(":\(end.code.rawValue),")) }
    }
}
