import BusProtocol
import SignalingProtocol
import Testing

@Suite struct FieldCodecTests {
    @Test func packedFieldsAreThese() throws {
        var writer = FieldWriter()
        writer.put("name", "é")
        writer.put("", "")
        writer.put("number", Int64.min)
        writer.put("flag", true)
        #expect(text(writer.encoded) == "4:name2:é0:0:6:number20:-92233720368547758084:flag1:1")
        let reader = try FieldReader(encoded: writer.encoded)
        #expect(try reader.string("name") == "é")
        #expect(try reader.string("").isEmpty)
        #expect(try reader.int64("number") == .min)
        #expect(try reader.bool("flag"))
        #expect(reader.optionalString("missing") == nil)
    }

    @Test(arguments: [Int64.min, -10, -1, 0, 1, 9, 10, 99, 100, 1_795_247_975_116_084, .max])
    func numbersComeBack(number: Int64) throws {
        var writer = FieldWriter()
        writer.put("n", number)
        #expect(try FieldReader(pairs: writer.pairs).int64("n") == number)
        #expect(text(writer.pairs[0].value) == String(number))
    }

    @Test(arguments: [
        "", "-", "+1", " 1", "1 ", "1.0", "0x1", "9223372036854775808", "-9223372036854775809", "--1", "1-", "é",
    ])
    func otherTextsAreNoNumbers(value: String) {
        let reader = FieldReader(pairs: [(name: "n", value: Array(value.utf8))])
        #expect(throws: SignalingError.self) { try reader.int64("n") }
    }

    @Test func boundsOfTypes() throws {
        let reader = FieldReader(pairs: [
            (name: "large", value: Array("4294967296".utf8)), (name: "negative", value: Array("-1".utf8)),
            (name: "text", value: [0xFF]), (name: "flag", value: Array("true".utf8)),
        ])
        #expect(throws: SignalingError.self) { try reader.uint32("large") }
        #expect(throws: SignalingError.self) { try reader.uint32("negative") }
        #expect(throws: SignalingError.self) { try reader.string("text") }
        #expect(throws: SignalingError.self) { try reader.bool("flag") }
        #expect(throws: SignalingError.self) { try reader.bytes("missing") }
        #expect(reader.optionalString("text") == nil)
    }

    /// The length prefix of a nested value is filled in after the value is written, so its number of digits varies.
    @Test(arguments: [0, 1, 9, 10, 99, 100, 9_999, 10_000])
    func nestedValuesAreMeasured(bytes: Int) throws {
        let value = AttributeValue(value: String(repeating: "x", count: bytes))
        var writer = FieldWriter()
        writer.put("record", value)
        writer.put("list", list: [value, value])
        writer.put("after", 7)
        let record = "5:value\(bytes):\(value.value)"
        let list = "0:\(record.utf8.count):\(record)0:\(record.utf8.count):\(record)"
        #expect(
            text(writer.encoded)
                == "6:record\(record.utf8.count):\(record)4:list\(list.utf8.count):\(list)5:after1:7")
        let reader = try FieldReader(encoded: writer.encoded)
        #expect(try reader.record("record", as: AttributeValue.self) == value)
        #expect(try reader.list("list", of: AttributeValue.self) == [value, value])
    }

    @Test func anEmptyListHasNoBytes() throws {
        var writer = FieldWriter()
        writer.put("list", list: [AttributeValue]())
        #expect(text(writer.encoded) == "4:list0:")
        #expect(try FieldReader(encoded: writer.encoded).list("list", of: AttributeValue.self).isEmpty)
    }

    @Test func aWritersFieldsFollowAnothers() throws {
        var first = FieldWriter(), second = FieldWriter()
        first.put("a", "1")
        second.put("b", "2")
        first.append(second)
        #expect(text(first.encoded) == "1:a1:11:b1:2")
        #expect(first.pairs.map(\.name) == ["a", "b"])
    }

    @Test func theFirstOfEqualNamesCounts() throws {
        var writer = FieldWriter()
        writer.put("n", "first")
        writer.put("n", "second")
        #expect(try FieldReader(encoded: writer.encoded).string("n") == "first")
    }

    @Test func everyCutIsRefused() throws {
        var writer = FieldWriter()
        writer.put("name", "value")
        writer.put("other", "12:34")
        let bytes = writer.encoded
        let whole = 13
        for length in 1..<bytes.count where length != whole {
            #expect(throws: SignalingError.self, "\(length)") { try FieldReader(encoded: bytes[..<length]) }
        }
        #expect(try FieldReader(encoded: bytes[..<whole]).pairs.count == 1)
        #expect(try FieldReader(encoded: []).pairs.isEmpty)
    }

    @Test(arguments: [
        "x", ":", "1:", "-1:", "1:a", "1:a-1:", "9999999999999999999:a", "4294967296:a", "1:a1:b1", "01a", " 1:a1:b",
        "1:\u{0}",
    ])
    func malformedFieldsAreRefused(bytes: String) {
        #expect(throws: SignalingError.self) { try FieldReader(encoded: bytes.utf8) }
    }

    @Test func namesMustBeText() {
        #expect(throws: SignalingError.self) { try FieldReader(encoded: [0x31, 0x3A, 0xFF, 0x30, 0x3A]) }
    }

    @Test func randomBytesNeverCrash() {
        var generator = SeededGenerator(seed: 1)
        let alphabet = Array("0123456789:-ab".utf8) + [0, 0xFF]
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...24, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator) ?? 0
            }
            if let reader = try? FieldReader(encoded: bytes) {
                _ = try? ChannelJoined(from: reader)
                _ = try? ReassertSessions(from: reader)
            }
        }
    }
}
