import CMedia
import Testing

@Suite struct CodecTests {
    private func vp8(_ payload: [UInt8]) -> cm_vp8? {
        var read = cm_vp8()
        return cm_vp8_read(&read, payload, payload.count) ? read : nil
    }

    /// The frame tag of a key frame of 640 x 480 with its start code.
    private static let key: [UInt8] = [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x80, 0x02, 0xE0, 0x01]

    @Test func vp8KeyFrames() throws {
        let plain = try #require(vp8([0x10] + Self.key))
        #expect(plain.is_key && plain.is_start && plain.width == 640 && plain.height == 480)
        #expect(plain.descriptor_size == 1 && !plain.has_picture_id)
        // A delta frame; a key frame's second packet; another partition's first packet.
        #expect(try #require(vp8([0x10, 0x11, 0, 0])).is_key == false)
        #expect(try #require(vp8([0x00] + Self.key)).is_key == false)
        #expect(try #require(vp8([0x11] + Self.key)).is_start == false)
        #expect(try #require(vp8([0x30, 0x11])).is_discardable)
        // Without its start code the size is unknown.
        #expect(try #require(vp8([0x10, 0x10, 0, 0, 1, 2, 3, 4, 5, 6, 7])).width == 0)
    }

    @Test func vp8Descriptors() throws {
        let long = try #require(vp8([0x90, 0xF0, 0x92, 0x34, 0x56, 0xC0] + Self.key))
        #expect(long.has_picture_id && long.is_long_id && long.picture_id == 0x1234)
        #expect(long.has_tl0 && long.tl0 == 0x56 && long.has_tid && long.tid == 3)
        #expect(long.descriptor_size == 6 && long.is_key && long.height == 480)
        let short = try #require(vp8([0x90, 0x80, 0x12] + Self.key))
        #expect(short.has_picture_id && !short.is_long_id && short.picture_id == 0x12 && short.descriptor_size == 3)
        let keyIndex = try #require(vp8([0x90, 0x10, 0x12] + Self.key))
        #expect(!keyIndex.has_tid && keyIndex.descriptor_size == 3)
    }

    @Test func vp8Truncations() {
        let bytes: [UInt8] = [0x90, 0xF0, 0x92, 0x34, 0x56, 0xC0] + Self.key
        for count in 0..<bytes.count {
            let read = vp8(Array(bytes[..<count]))
            #expect((read == nil) == (count < 6), "\(count)")
            #expect((read?.is_key ?? false) == (count > 6), "\(count)")
            #expect(read?.width ?? 0 == 0)
        }
    }

    @Test func h264KeyFrames() {
        func isKey(_ payload: [UInt8]) -> Bool { cm_h264_is_key(payload, payload.count) }
        #expect(isKey([0x67, 1, 2]))
        // An IDR slice without the parameters is nothing that a new receiver could begin with.
        #expect(!isKey([0x65, 1, 2]))
        #expect(!isKey([24, 0, 2, 0x68, 1, 0, 2, 0x65, 1]))
        #expect(!isKey([0x41, 1, 2]))
        #expect(!isKey([0x68, 1]))
        #expect(!isKey([]))
        // STAP-A: an access unit delimiter, then the parameters; then without them.
        #expect(isKey([24, 0, 2, 9, 0xF0, 0, 3, 0x67, 1, 2]))
        #expect(!isKey([24, 0, 2, 9, 0xF0, 0, 3, 0x68, 1, 2]))
        // STAP-B has two more bytes.
        #expect(isKey([25, 0, 7, 0, 2, 0x67, 1]))
        // Lengths that contradict the packet.
        #expect(!isKey([24, 0, 9, 0x67, 1]))
        #expect(!isKey([24, 0, 0, 0x67, 1]))
        #expect(!isKey([24, 0]))
        #expect(!isKey([24]))
        // FU-A: the first fragment only.
        #expect(isKey([28, 0x87, 1]))
        #expect(!isKey([28, 0x07, 1]))
        #expect(!isKey([28, 0x85, 1]))
        #expect(!isKey([28, 0x81, 1]))
        #expect(!isKey([28]))
    }
}
