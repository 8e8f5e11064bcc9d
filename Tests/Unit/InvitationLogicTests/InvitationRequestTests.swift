import InvitationLogic
import SignalingProtocol
import Testing

/// Validation of the clients' call requests.
@Suite struct InvitationRequestTests {
    @Test(arguments: [
        ("", false, 20_000), ("{}", false, 20_000), ("hello", false, 20_000), ("[1]", false, 20_000),
        (#"{"_timeout":5}"#, false, 5_000), (#"{"_timeout":"7"}"#, false, 7_000), (#"{"_timeout":180}"#, false, 30_000),
        (#"{"_timeout":-3}"#, false, 0), (#"{"_timeout":0}"#, false, 0), (#"{"_timeout":1e30}"#, false, 30_000),
        (#"{"_timeout":null}"#, false, 20_000), (#"{"_timeout":"soon"}"#, false, 20_000),
        (#"{"_timeout":"nan"}"#, false, 20_000), (#"{"_require_peer_online":1}"#, true, 20_000),
        (#"{"_require_peer_online":2}"#, false, 20_000), (#"{"_require_peer_online":true}"#, true, 20_000),
        (#"{"_require_peer_online":"1","_timeout":30}"#, true, 30_000), (#"{"_require_peer_online":0}"#, false, 20_000),
    ])
    func options(extra: String, requiresPeerOnline: Bool, timeout: Int64) {
        let options = InvitationOptions(extra: extra)
        #expect(options.requiresPeerOnline == requiresPeerOnline)
        #expect(options.timeout == .milliseconds(timeout))
    }

    @Test(arguments: [
        (#"{"_timeout":5}"#, Int64?.some(5_000)), (#"{"_timeout":0}"#, 0), ("{}", nil), (#"{"_timeout":"x"}"#, nil),
    ])
    func statedTimeout(extra: String, expected: Int64?) {
        #expect(InvitationOptions(extra: extra).statedTimeout == expected.map { .milliseconds($0) })
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

    @Test(arguments: [
        "+8613800138000", "+1", "tel:+49-30-1234", "TEL:110", "sip:bob@example.org", "SIP:1@[::1]:5070;transport=tcp",
    ])
    func telephones(callee: String) throws {
        #expect(try CallRoute(callee: callee) == .telephone(try Account(callee)))
        #expect(try CallRoute(callee: callee, showsNumber: true) == .telephone(try Account(callee)))
    }

    @Test(arguments: ["110", "8613800138000", "00000000000000000000"])
    func digitsDependOnTheTrunk(callee: String) throws {
        #expect(try CallRoute(callee: callee) == .either(try Account(callee)))
    }

    @Test(arguments: [
        "bob", "+", "+86x", "12", "123456789012345678901", "+123456789012345678901", "+٣", "٣٣٣", "tel:", "sip:",
        "sips:bob@x", "12a", "1+2",
    ])
    func users(callee: String) throws {
        #expect(try CallRoute(callee: callee) == .user(try Account(callee)))
        #expect(try CallRoute(callee: callee, showsNumber: true) == .either(try Account(callee)), "with a trunk")
    }

    @Test(arguments: ["", "b b", "sip:a\r\nVia: x", "+49\u{0}", "tel:1 2"])
    func neither(callee: String) {
        #expect { try CallRoute(callee: callee) } throws: { ($0 as? SignalingError)?.code == .wrongParameter }
    }

    @Test(arguments: [
        (#"{"srcNum":"+4930"}"#, true), (#"{"srcNum":4930}"#, true), (#"{"srcNum":""}"#, false),
        (#"{"srcNum":null}"#, false), ("{}", false), ("srcNum", false),
    ])
    func shownNumber(extra: String, shows: Bool) {
        #expect(InvitationOptions(extra: extra).showsNumber == shows)
    }

    @Test(arguments: [
        (#"{"msgtype":"dtmf","msgdata":"0123456789*#ABCD"}"#, true), (#"{"msgtype":"dtmf","msgdata":5}"#, true),
        (#"{"msgtype":"dtmf","msgdata":"1,,2"}"#, true), (#"{"msgtype":"dtmf","msgdata":",,"}"#, false),
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
