import CMedia
import CMediaNode
import Testing

/// A Binding message that is written here, independently of the code under test.
struct Binding {
    static let transaction = hex("b7e7a701bc34d686fa87dfae")
    static let username = attribute(0x0006, Array("evtj:h6vY".utf8))
    static let password = Array("VOkJxbRl1RmTxUk/WvJxBt".utf8)

    var type: UInt16 = 0x0001
    var attributes: [UInt8] = username
    var password: [UInt8]? = password
    /// Between MESSAGE-INTEGRITY and FINGERPRINT.
    var later: [UInt8] = []

    static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        big(type) + big(UInt16(value.count)) + value + [UInt8](repeating: 0x20, count: (4 - value.count % 4) % 4)
    }

    var bytes: [UInt8] {
        var text = attributes
        if let password {
            var code = [UInt8](repeating: 0, count: 20)
            let message = head(text.count + 24) + text
            _ = cm_hmac_sha1(password, password.count, message, message.count, &code)
            text += Self.attribute(0x0008, code)
        }
        let message = head(text.count + later.count + 8) + text + later
        return message + Self.attribute(0x8028, big(Self.crc(message) ^ 0x5354_554E))
    }

    private func head(_ size: Int) -> [UInt8] { big(type) + big(UInt16(size)) + hex("2112a442") + Self.transaction }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        var crc = UInt32.max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : (crc >> 1) ^ 0xEDB8_8320 }
        }
        return ~crc
    }
}

@Suite struct STUNTests {
    /// RFC 5769, sections 2.1, 2.2, 2.3.
    private let request = hex(
        """
        00010058 2112a442 b7e7a701 bc34d686 fa87dfae 80220010 5354554e 20746573 7420636c 69656e74 00240004 6e0001ff
        80290008 932ff9b1 51263b36 00060009 6576746a 3a683676 59202020 00080014 9aeaa70c bfd8cb56 781ef2b5 b2d3f249
        c1b571a2 80280004 e57a3bcf
        """)
    private let response = hex(
        """
        0101003c 2112a442 b7e7a701 bc34d686 fa87dfae 8022000b 74657374 20766563 746f7220 00200008 0001a147 e112a643
        00080014 2b91f599 fd9e90c3 8c7489f9 2af9ba53 f06be7d7 80280004 c07d4c96
        """)
    private let responseIPv6 = hex(
        """
        01010048 2112a442 b7e7a701 bc34d686 fa87dfae 8022000b 74657374 20766563 746f7220 00200014 0002a147 0113a9fa
        a5d3f179 bc25f4b5 bed2b9d9 00080014 a382954e 4be67bf1 1784c97c 8292c275 bfe3ed41 80280004 c8fb0b4c
        """)
    private let addressIPv4: cm_address
    private let addressIPv6: cm_address

    init() {
        addressIPv4 = Self.address([192, 0, 2, 1], port: 32853)
        addressIPv6 = Self.address(hex("20010db8 12345678 00112233 44556677"), port: 32853)
    }

    private static func address(_ bytes: [UInt8], port: UInt16) -> cm_address {
        var address = cm_address()
        address.port = port
        address.is_ipv6 = bytes.count == 16
        withUnsafeMutableBytes(of: &address.bytes) { $0.copyBytes(from: bytes) }
        return address
    }

    private func read(_ bytes: [UInt8]) -> cm_stun? {
        var stun = cm_stun()
        return cm_stun_read(&stun, bytes, bytes.count) ? stun : nil
    }

    private func withSecret<Result>(
        _ password: [UInt8] = Binding.password, _ body: (UnsafePointer<cm_stun_secret>) -> Result
    ) -> Result {
        password.withUnsafeBufferPointer { buffer in
            var secret = cm_stun_secret(password: buffer.baseAddress, size: buffer.count, hmac: cm_hmac_sha1)
            return body(&secret)
        }
    }

    private func isAuthentic(_ bytes: [UInt8], _ password: [UInt8] = Binding.password) -> Bool {
        guard var stun = read(bytes) else { return false }
        return withSecret(password) { cm_stun_is_authentic(&stun, bytes, $0) }
    }

    private func answer(to bytes: [UInt8], _ address: cm_address, capacity: Int = 200) -> [UInt8] {
        guard var stun = read(bytes) else { return [] }
        var address = address
        var out = [UInt8](repeating: 0xEE, count: capacity)
        let count = withSecret { cm_stun_write_answer(&stun, &address, $0, &out, capacity) }
        return Array(out[..<count])
    }

    private func isSame(_ one: cm_address, _ other: cm_address) -> Bool {
        one.port == other.port && one.is_ipv6 == other.is_ipv6
            && bytes(of: one.bytes, 0..<16) == bytes(of: other.bytes, 0..<16)
    }

    @Test func theRequestOfTheVectorsIsRead() throws {
        let stun = try #require(read(request))
        #expect(stun.kind == CM_STUN_REQUEST && Int(stun.size) == request.count)
        #expect(bytes(of: stun.transaction, 0..<12) == Binding.transaction)
        let ufrag = request[Int(stun.ufrag_offset)...].prefix(Int(stun.ufrag_size))
        #expect(Array(ufrag) == Array("evtj".utf8))
        #expect(stun.priority == 0x6E00_01FF && stun.role == CM_STUN_ROLE_CONTROLLED && !stun.is_nominating)
        #expect(isAuthentic(request))
        #expect(!isAuthentic(request, Array("VOkJxbRl1RmTxUk/WvJxBT".utf8)))
        #expect(!isAuthentic(request, []))
    }

    @Test func theAnswersOfTheVectorsAreRead() throws {
        for (bytes, address) in [(response, addressIPv4), (responseIPv6, addressIPv6)] {
            let stun = try #require(read(bytes))
            #expect(stun.kind == CM_STUN_SUCCESS && stun.has_address && isSame(stun.address, address))
            #expect(isAuthentic(bytes))
        }
    }

    @Test func noBitCanBeChanged() {
        for bit in 0..<8 * request.count {
            var changed = request
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(read(changed) == nil, "\(bit)")
        }
        for count in 0..<request.count { #expect(read(Array(request[..<count])) == nil, "\(count)") }
        #expect(read(request + [0, 0, 0, 0]) == nil)
    }

    @Test func whoKnowsNoPasswordIsNotAuthentic() {
        let forged = Binding(password: Array("guess".utf8)).bytes
        #expect(read(forged) != nil, "its fingerprint is right")
        #expect(!isAuthentic(forged))
        #expect(isAuthentic(Binding().bytes))
    }

    @Test func whatCannotBeAnsweredIsNotRead() {
        let long = Binding(attributes: Binding.username + Binding.attribute(0x8022, [UInt8](repeating: 1, count: 1440)))
        #expect(read(long.bytes) == nil, "over 1500 bytes")
        #expect(read(Binding(type: 0x0011).bytes) == nil, "an indication")
        #expect(read(Binding(type: 0x0003).bytes) == nil, "an allocation")
        #expect(read(Binding(attributes: []).bytes) == nil, "no username")
        #expect(read(Binding(attributes: Binding.attribute(6, Array("evtj".utf8))).bytes) == nil, "no colon")
        #expect(read(Binding(attributes: Binding.attribute(6, Array(":evtj".utf8))).bytes) == nil, "no ufrag")
        #expect(read(Binding(attributes: Binding.attribute(6, [])).bytes) == nil, "an empty username")
        #expect(read(Binding(password: nil).bytes) == nil, "no integrity")
        let malformed: [[UInt8]] = [
            Binding.attribute(0x24, [1, 2, 3]), Binding.attribute(0x25, [1, 2, 3, 4]), Binding.attribute(0x8029, [1]),
            Binding.attribute(0x802A, []), Binding.attribute(0x20, [0, 1, 2, 3]), Binding.attribute(9, [0, 0, 4]),
            hex("8022ffff"), hex("80220005 01020304"),
        ]
        for attribute in malformed {
            #expect(read(Binding(attributes: Binding.username + attribute).bytes) == nil, "\(attribute)")
        }
    }

    @Test func nominationPriorityAndRoleAreRead() throws {
        let asked =
            Binding.username + Binding.attribute(0x25, []) + Binding.attribute(0x24, [1, 2, 3, 4])
            + Binding.attribute(0x802A, big(UInt64(7)))
        let stun = try #require(read(Binding(attributes: asked).bytes))
        #expect(stun.is_nominating && stun.priority == 0x0102_0304 && stun.role == CM_STUN_ROLE_CONTROLLING)
        var accepted = stun
        #expect(cm_stun_refusal(&accepted) == 0)
        let late = try #require(read(Binding(later: Binding.attribute(0x25, [])).bytes))
        #expect(!late.is_nominating, "what no code protects is ignored")
    }

    @Test func anAnswerTellsTheAddress() throws {
        for address in [addressIPv4, addressIPv6] {
            let request = Binding(attributes: Binding.attribute(6, Array("evtjevtj:h".utf8))).bytes
            let answer = answer(to: request, address)
            let stun = try #require(read(answer))
            #expect(stun.kind == CM_STUN_SUCCESS && bytes(of: stun.transaction, 0..<12) == Binding.transaction)
            #expect(isSame(stun.address, address))
            #expect(isAuthentic(answer))
            #expect(5 * answer.count <= 6 * request.count, "\(answer.count) for \(request.count)")
        }
    }

    @Test func anAnswerIsNoAmplification() {
        let short = Binding(attributes: Binding.attribute(6, Array("a:".utf8))).bytes
        #expect(short.count == 60)
        #expect(answer(to: short, addressIPv4).count == 64)
        #expect(answer(to: short, addressIPv6).isEmpty, "76 bytes are more than 72")
        let request = Binding().bytes
        #expect(answer(to: request, addressIPv4, capacity: 64).count == 64)
        #expect(answer(to: request, addressIPv4, capacity: 63).isEmpty)
        #expect(answer(to: request, addressIPv4, capacity: 0).isEmpty)
    }

    @Test func aControlledPeerIsRefused() throws {
        let refusal = answer(to: request, addressIPv4)
        let stun = try #require(read(refusal))
        #expect(stun.kind == CM_STUN_ERROR && stun.error == 487 && isAuthentic(refusal))
    }

    @Test func attributesThatMustBeUnderstoodAreNamed() throws {
        var attributes = Binding.username + Binding.attribute(0x8029, big(UInt64(7)))
        for type in UInt16(0x7F00)..<0x7F06 { attributes += Binding.attribute(type, []) }
        attributes += Binding.attribute(0xC057, [1, 2, 3, 4])
        let refusal = answer(to: Binding(attributes: attributes).bytes, addressIPv4)
        let stun = try #require(read(refusal))
        #expect(stun.kind == CM_STUN_ERROR && stun.error == 420 && isAuthentic(refusal))
        let named = Binding.attribute(0x000A, hex("7f00 7f01 7f02 7f03"))
        #expect(refusal.indices.contains { refusal[$0...].starts(with: named) })
    }

    @Test func aRequestIsWritten() throws {
        var check = cm_stun_check()
        withUnsafeMutableBytes(of: &check.transaction) { $0.copyBytes(from: Binding.transaction) }
        check.priority = 5
        check.tie_breaker = 0x0102_0304_0506_0708
        check.is_nominating = true
        var out = [UInt8](repeating: 0xEE, count: 200)
        let count = "evtj:h6vY".withCString { username in
            check.username = username
            check.username_size = 9
            return withSecret { cm_stun_write_request(&check, $0, &out, out.count) }
        }
        let written = Array(out[..<count])
        let attributes =
            Binding.attribute(0x802A, hex("0102030405060708")) + Binding.attribute(0x24, [0, 0, 0, 5])
            + Binding.attribute(0x25, [])
        var padded = Binding.username
        padded.replaceSubrange(13..., with: [0, 0, 0])
        #expect(written == Binding(attributes: padded + attributes).bytes)
        #expect(isAuthentic(written))
        let full = withSecret { cm_stun_write_request(&check, $0, &out, count - 1) }
        #expect(full == 0)
    }
}
