import Testing

@testable import ClusterState

@Suite struct KeySlotTests {
    /// The example of the specification.
    @Test func crc() {
        #expect(KeySlot.crc16(of: "123456789") == 0x31C3)
        #expect(KeySlot.crc16(of: "") == 0)
    }

    /// What `CLUSTER KEYSLOT` of Redis 7.0.15 answers.
    @Test(arguments: [
        ("", 0), ("123456789", 12_739), ("foo", 12_182), ("gateways", 15_195),
        (String(repeating: "x", count: 300), 11_216),
        // With a hash tag.
        ("{user1000}.following", 3443), ("foo{bar}{zap}", 5061), ("foo{{bar}}zap", 4015), ("a{b}c{d}", 3300),
        ("{a:APP:u:alice}:session", 347), ("{control}layout", 12_069), ("{g:abc}:lease", 10_140),
        ("{a:é:c:€}", 3872),
        // Without: empty, unclosed, closed before it opens.
        ("foo{}{bar}", 8363), ("{}x", 10_595), ("{a", 10_276),
        ("}{a}", 15_495),
    ])
    func slots(_ key: String, _ slot: Int) { #expect(KeySlot.of(key) == slot) }

    @Test func bytesThatAreNoText() {
        let key: [UInt8] = [0x00, 0xFF, 0xFE, UInt8(ascii: "{"), 0x80, UInt8(ascii: "}")]
        #expect(KeySlot.of(key.span) == 4488)
    }
}
