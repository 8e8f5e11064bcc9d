import SignalingProtocol
import SignalingWire
import Testing

@Suite struct JSONValueTests {
    private func parse(_ text: String) throws -> JSONValue { try JSONValue.parse(text.utf8) }

    @Test(arguments: [
        ("null", JSONValue.null), (" true ", .bool(true)), ("false", .bool(false)), ("\"\"", .string("")),
        ("[]", .array([])), ("[ ]", .array([])), ("{}", .object([])), ("{ }", .object([])), ("\t\r\n 1", .number("1")),
        ("[1,\"a\",null]", .array([.number("1"), .string("a"), .null])),
        (
            "{\"a\" : [ { } ] , \"\":0}",
            .object([JSONMember("a", .array([.object([])])), JSONMember("", .number("0"))])
        ),
    ])
    func valuesAreRead(text: String, value: JSONValue) throws {
        #expect(try parse(text) == value)
    }

    @Test(arguments: [
        "0", "-0", "-1", "10", "0.5", "1.0", "1e5", "1E+5", "1e-05", "123456789012345678901234567890", "-0.0e0",
    ])
    func numbersKeepTheirText(text: String) throws {
        #expect(try parse(text) == .number(text))
        #expect(try parse(text).compactText == text)
    }

    @Test(arguments: [
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041\u00e9\u00E9""#, "Aéé"), (#""\ud83d\ude42""#, "🙂"),
        (#""\uD83D""#, "\u{FFFD}"), (#""\uDE42""#, "\u{FFFD}"), (#""\ud83dx""#, "\u{FFFD}x"),
        (#""\ud83d\ud83d\ude42""#, "\u{FFFD}🙂"), (#""\ud83d\u0041""#, "\u{FFFD}A"),
        (#""\ude42\ud83d""#, "\u{FFFD}\u{FFFD}"),
        (#""\ud83d\n""#, "\u{FFFD}\n"), (#""\u0000""#, "\u{0}"), (#""\uffff""#, "\u{FFFF}"),
        ("\"\u{7F}é日🙂\"", "\u{7F}é日🙂"),
    ])
    func escapesAreResolved(text: String, value: String) throws {
        let read = try #require(try parse(text).string)
        #expect(Array(read.utf8) == Array(value.utf8))
    }

    @Test(arguments: [
        "", " ", "nul", "nulll", "True", "undefined", "NaN", "Infinity", "-Infinity", "+1", "-", "01", "-01", "1.",
        ".5",
        "1.e5", "1e", "1e+", "0x10", "1_000", "1,", "'a'", "\"", "\"a", "\"\\", "\"\\\"", "\"\\x41\"", "\"\\u12\"",
        "\"\\u123g\"", "\"\\ud83d\\u12\"", "\"\\U0041\"", "\"a\nb\"", "\"\u{0}\"", "\"\t\"", "[", "]", "[1", "[1,",
        "[1,]",
        "[,1]", "[1 2]", "[1;2]", "{", "}", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{,}", "{a:1}",
        "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{1:2}", "[}", "{]", "[1]]", "1 1", "null null", "\u{FEFF}1", "\u{A0}1",
        "1\u{B}",
        "\u{C}1", "/* */1", "1//", "\u{0}", "1\u{0}",
    ])
    func otherTextsAreRefused(text: String) {
        #expect { try parse(text) } throws: {
            ($0 as? SignalingError)?.code == .wrongParameter && ($0 as? SignalingError)?.reason == .malformed
        }
    }

    @Test(
        arguments: [
            [0xFF], [0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], [0x22, 0xE2, 0x82], [0x31, 0x80],
        ] as [[UInt8]])
    func badUTF8IsRefused(bytes: [UInt8]) {
        #expect(throws: SignalingError.self) { try JSONValue.parse(bytes) }
    }

    @Test func theDepthIsBounded() throws {
        func nested(_ depth: Int, _ open: String, _ close: String) -> String {
            String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
        }
        #expect(throws: Never.self) { try parse(nested(32, "[", "]")) }
        #expect(throws: SignalingError.self) { try parse(nested(33, "[", "]")) }
        #expect(throws: Never.self) { try parse(nested(32, "{\"a\":", "}")) }
        #expect(throws: SignalingError.self) { try parse(nested(33, "{\"a\":", "}")) }
        #expect(throws: SignalingError.self) { try parse(String(repeating: "[", count: 1_000_000)) }
    }

    @Test func theLastOfEqualNamesCounts() throws {
        let value = try parse(#"{"a":1,"a":2}"#)
        #expect(value["a"] == .number("2"))
        #expect(value.compactText == #"{"a":1,"a":2}"#)
        // Names are compared byte by byte, so composed and decomposed characters differ.
        #expect(try parse("{\"\u{E9}\":1}")["e\u{301}"] == nil)
        #expect(try parse("[1]")["a"] == nil)
    }

    @Test func compactTextIsStrictAndEscapesNoMoreThanNeeded() throws {
        let text = "\"\\/\u{8}\u{C}\n\r\t\u{1F}\u{0}\u{7F}é\u{2028}🙂"
        let expected = #""\"\\/\u0008\u000c\n\r\t\u001f\u0000"# + "\u{7F}é\u{2028}🙂\""
        #expect(JSONValue.string(text).compactText == expected)
        #expect(try parse(expected) == .string(text))
        #expect(try parse(#" { "a" : [ 1.0 , true , null ] } "#).compactText == #"{"a":[1.0,true,null]}"#)
    }

    @Test func wholeNumbers() throws {
        for (text, number) in [("5", 5), ("\"5\"", 5), ("5.0", 5), ("1e3", 1000), ("-7", -7)] as [(String, Int64)] {
            #expect(try parse(text).integer == number)
        }
        for text in [
            "5.5", "\"\"", "\"x\"", "1e300", "null", "true", "[5]", "99999999999999999999", "\"nan\"", "\"inf\"",
        ] {
            #expect(try parse(text).integer == nil)
        }
        for text in ["true", "1", "1.0", "2"] { #expect(try parse(text).isTrue) }
        for text in ["false", "0", "0.0", "-0", "null", "\"\"", "\"1\"", "[]"] { #expect(try !parse(text).isTrue) }
    }

    @Test func everyCutIsRefused() throws {
        for name in try Fixture.names(in: "client") + Fixture.names(in: "server") {
            let bytes = try Fixture.bytes(name)
            #expect(throws: Never.self) { try JSONValue.parse(bytes) }
            for length in 0..<bytes.count {
                #expect(throws: SignalingError.self, "\(name) cut at \(length)") {
                    try JSONValue.parse(bytes[..<length])
                }
            }
        }
    }

    @Test func damagedTextsNeverCrashAndWhatIsReadComesBack() throws {
        var generator = SeededGenerator(seed: 2)
        let frames = try Fixture.names(in: "client").map(Fixture.bytes)
        let pieces = Array("\"\\{}[]:,u0dD8eE+-. \n".utf8) + [0, 0x80, 0xC3, 0xED, 0xFF]
        for _ in 0..<30_000 {
            var bytes = frames.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: bytes.indices, using: &generator)
                bytes[index] = pieces.randomElement(using: &generator) ?? 0
            }
            guard let value = try? JSONValue.parse(bytes) else { continue }
            #expect(try parse(value.compactText) == value)
            _ = try? ClientFrame(decoding: bytes)
        }
    }

    @Test func randomBytesNeverCrash() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            _ = try? JSONValue.parse(bytes)
            _ = try? ClientFrame(decoding: [0x5B, 0x22] + bytes)
        }
    }
}
