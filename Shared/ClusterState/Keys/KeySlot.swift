/// The slot of a key in Redis Cluster. Source: Redis Cluster specification, "Key distribution model" and "Hash tags".
package enum KeySlot {
    /// The number of slots.
    package static let count = 16_384

    /// The slot of a key, 0 to 16,383: from its hash tag if it has one, otherwise from the whole key.
    package static func of(_ key: String) -> UInt16 { of(key.utf8Span.span) }

    /// The slot of a key given as bytes.
    package static func of(_ key: Span<UInt8>) -> UInt16 { crc16(of: key, in: hashTag(of: key)) % UInt16(count) }

    /// The CRC16 of a text: polynomial 0x1021, initial value 0, nothing reflected (XMODEM).
    package static func crc16(of text: String) -> UInt16 {
        let bytes = text.utf8Span.span
        return crc16(of: bytes, in: 0..<bytes.count)
    }

    /// The bytes that decide the slot: those between the first `{` and the first `}` after it, unless there are none.
    private static func hashTag(of key: Span<UInt8>) -> Range<Int> {
        let whole = 0..<key.count
        guard let open = firstIndex(of: UInt8(ascii: "{"), in: key, from: 0),
            let close = firstIndex(of: UInt8(ascii: "}"), in: key, from: open + 1), close > open + 1
        else { return whole }
        return open + 1..<close
    }

    private static func firstIndex(of byte: UInt8, in key: Span<UInt8>, from start: Int) -> Int? {
        var index = start
        while index < key.count {
            if key[index] == byte { return index }
            index += 1
        }
        return nil
    }

    private static func crc16(of bytes: Span<UInt8>, in range: Range<Int>) -> UInt16 {
        let table = remainders
        var crc: UInt16 = 0
        for index in range { crc = crc << 8 ^ table[Int(UInt8(crc >> 8) ^ bytes[index])] }
        return crc
    }

    /// The CRC16 of each single byte.
    private static let remainders: [UInt16] = (0..<256).map { byte in
        var crc = UInt16(byte) << 8
        for _ in 0..<8 { crc = crc & 0x8000 != 0 ? crc << 1 ^ 0x1021 : crc << 1 }
        return crc
    }
}
