import SignalingProtocol
import Testing

@Suite struct IdentifierTests {
    @Test func boundsAreInBytes() throws {
        #expect(throws: Never.self) { try AppID(String(repeating: "a", count: 64)) }
        #expect(throws: SignalingError.self) { try AppID(String(repeating: "a", count: 65)) }
        // Each character has two bytes.
        #expect(throws: Never.self) { try Account(String(repeating: "é", count: 64)) }
        #expect(throws: SignalingError.self) { try Account(String(repeating: "é", count: 64) + "a") }
        #expect(throws: Never.self) { try ChannelName(String(repeating: "🙂", count: 32)) }
        #expect(throws: SignalingError.self) { try ChannelName(String(repeating: "🙂", count: 32) + "a") }
        #expect(throws: Never.self) { try AttributeName(String(repeating: "n", count: 128)) }
        #expect(throws: SignalingError.self) { try AttributeName(String(repeating: "n", count: 129)) }
    }

    @Test(arguments: [
        "", " ", "a b", "a\tb", "a\nb", "a\u{A0}b", "a\u{3000}b", "a\u{2028}b", "a\u{0}", "a\u{7F}", "a\u{85}",
    ])
    func accountsHaveNoWhiteSpaceAndNoControls(text: String) {
        #expect { try Account(text) } throws: { ($0 as? SignalingError)?.code == .invalidUser }
    }

    @Test(arguments: ["a", "a:b", "{a}", "%41", "a.b", "日本語", "👩‍👩‍👧", "e\u{301}", "\"\\", "a\u{200D}b"])
    func otherAccountsAreTaken(text: String) throws {
        #expect(try Account(text).rawValue == text)
        #expect(try ChannelName(text).rawValue == text)
        #expect(try AttributeName(text).rawValue == text)
    }

    @Test(arguments: [".", ".."])
    func newNamesAreNoDotSegmentsOfPaths(text: String) throws {
        #expect { try Account(new: text) } throws: { ($0 as? SignalingError)?.code == .invalidUser }
        #expect { try ChannelName(new: text) } throws: { ($0 as? SignalingError)?.reason == .invalidChannel }
        #expect { try AttributeName(new: text) } throws: { ($0 as? SignalingError)?.reason == .invalidAttributeName }
        // What was stored by an older version can be read.
        #expect(try Account(text).rawValue == text)
        #expect(try ChannelName(text).rawValue == text)
        #expect(try AttributeName(text).rawValue == text)
        for other in [text + "a", " " + text, "..." + text] {
            #expect(try ChannelName(new: other).rawValue == other)
            #expect(try AttributeName(new: other).rawValue == other)
        }
        #expect(try Account(new: "..." + text).rawValue == "..." + text)
        #expect { try Account(new: "a b") } throws: { ($0 as? SignalingError)?.code == .invalidUser }
    }

    @Test func channelAndAttributeNamesMayHaveSpaces() throws {
        #expect(try ChannelName(" a b ").rawValue == " a b ")
        #expect(try AttributeName(" a b ").rawValue == " a b ")
        for text in ["", "a\nb", "a\u{0}", "\u{9F}"] {
            #expect { try ChannelName(text) } throws: { ($0 as? SignalingError)?.code == .wrongParameter }
            #expect { try AttributeName(text) } throws: { ($0 as? SignalingError)?.code == .wrongParameter }
        }
    }

    @Test(arguments: ["", "a b", "é", "a\u{7F}", "\u{1F}"])
    func appIDsAreVisibleASCII(text: String) {
        #expect { try AppID(text) } throws: { ($0 as? SignalingError)?.code == .wrongParameter }
    }

    @Test func equalityIsOfBytes() throws {
        let composed = try Account("caf\u{E9}")
        let decomposed = try Account("cafe\u{301}")
        #expect("caf\u{E9}" == "cafe\u{301}")
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect(try composed == Account("caf\u{E9}"))
        #expect((composed < decomposed) != (decomposed < composed))
        #expect(try AppID("App") != AppID("app"))
    }

    @Test func bothSpellingsOfASpecialChannelAreOne() throws {
        for special in SpecialChannel.allCases {
            let once = try ChannelName(special.rawValue)
            let twice = try ChannelName("_" + special.rawValue)
            #expect(once == twice && once.special == special)
            #expect(once == ChannelName(special))
            #expect(try ChannelName("__" + special.rawValue).special == nil)
        }
        #expect(try ChannelName("_agora_user_onlin").special == nil)
        #expect(try ChannelName("_agora_user_online ").special == nil)
    }
}
