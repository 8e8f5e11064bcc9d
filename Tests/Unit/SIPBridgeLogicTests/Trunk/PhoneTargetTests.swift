import SIPBridgeLogic
import Testing

@Suite struct PhoneTargetTests {
    @Test(
        arguments: [
            ("+4930123", "+4930123"), ("030123", "030123"), ("*21#", "*21%23"),
            ("tel:+1-212-(555).0100", "+12125550100"),
            ("TEL:123;phone-context=example.com", "123"), ("sip:alice@example.com", "alice"),
            ("SIPS:bob;ext=3@example.com:5061;transport=tls", "bob"), ("sip:%2Ba%20b@h", nil),
            ("sip:carol:secret@h", "carol"),
            ("operator", "operator"), ("m\u{fc}ller", "m%C3%BCller"), ("a@b", "a%40b"), ("a:b", "a%3Ab"),
            ("sip:example.com", nil), ("sip:@example.com", nil), ("sip:a@h?Via=x", nil), ("tel:abc", nil),
            ("tel:", nil),
            ("", nil), ("1\r\nVia: x", nil), ("1 2", nil), ("1\u{0}", nil), ("a>b", "a%3Eb"), ("a\"b", "a%22b"),
            (String(repeating: "1", count: 129), nil),
        ] as [(String, String?)])
    func calleesBecomeUserParts(callee: String, user: String?) {
        #expect(PhoneTarget(callee: callee)?.user == user)
    }

    @Test(
        arguments: [
            ("+4930123", "pbx", "+4930123"), ("030123", "pbx", "030123"), ("%2B49", "pbx", "+49"),
            ("*21%23", "pbx", "*21#"),
            ("123;phone-context=x", "pbx", "123"), ("alice", "example.com", "sip:alice@example.com"),
            ("", "example.com", "anonymous"), ("anonymous", "example.com", "anonymous"),
            ("Anonymous", "anonymous.invalid", "anonymous"), ("alice", "anonymous.invalid", "anonymous"),
            ("alice", "", "anonymous"), ("%zz", "h", "anonymous"), ("b%20s", "h", "sip:b%20s@h"),
            (String(repeating: "a", count: 130), "h", "anonymous"),
        ])
    func callersAreNamed(user: String, host: String, name: String) {
        #expect(PhoneCaller.name(user: user, host: host) == name)
    }

    @Test func aNumberIsKnownWithAndWithoutPlus() {
        #expect(PhoneCaller.spellings(ofCalled: "+49") == ["+49", "49"])
        #expect(PhoneCaller.spellings(ofCalled: "49") == ["49", "+49"])
        #expect(PhoneCaller.spellings(ofCalled: "%2B49;x=y") == ["+49", "49"])
        #expect(PhoneCaller.spellings(ofCalled: "desk") == ["desk"])
        #expect(PhoneCaller.spellings(ofCalled: "") == [])
        #expect(PhoneCaller.spellings(ofCalled: "%ff") == [])
    }

    @Test func anAccountIsShownWhenItIsAToken() {
        #expect(PhoneCaller.user(of: "alice.1") == "alice.1")
        #expect(PhoneCaller.user(of: "a@b") == "anonymous")
        #expect(PhoneCaller.user(of: "a;b") == "anonymous")
    }
}
