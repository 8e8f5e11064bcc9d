import CMedia
import Testing

@Suite struct RTPTests {
    private func value(_ id: UInt32, in bytes: [UInt8]) -> [UInt8]? {
        guard var rtp = header(bytes) else { return nil }
        var size: UInt8 = 0
        return bytes.withUnsafeBufferPointer { buffer in
            cm_rtp_extension(&rtp, buffer.baseAddress, id, &size).map {
                Array(UnsafeBufferPointer(start: $0, count: Int(size)))
            }
        }
    }

    @Test func theFirstBytesTellWhatADatagramIs() {
        let kinds: [([UInt8], cm_kind)] = [
            ([0, 1], CM_KIND_STUN), ([3, 1], CM_KIND_STUN), ([4, 1], CM_KIND_UNKNOWN), ([19, 1], CM_KIND_UNKNOWN),
            ([20, 254], CM_KIND_DTLS), ([63, 254], CM_KIND_DTLS), ([64, 0], CM_KIND_UNKNOWN),
            ([127, 0], CM_KIND_UNKNOWN), ([128, 0], CM_KIND_RTP), ([128, 191], CM_KIND_RTP),
            ([128, 192], CM_KIND_RTCP), ([191, 223], CM_KIND_RTCP), ([191, 224], CM_KIND_RTP),
            ([192, 200], CM_KIND_UNKNOWN), ([128], CM_KIND_UNKNOWN), ([], CM_KIND_UNKNOWN),
        ]
        for (bytes, kind) in kinds { #expect(cm_kind_of(bytes, bytes.count) == kind, "\(bytes)") }
    }

    @Test func aHeaderIsRead() throws {
        let packet = Packet(
            payloadType: 96, isMarked: true, sequence: 0xFFFE, timestamp: 0xDEAD_BEEF, ssrc: 7, sources: [8, 9],
            extensions: (0xBEDE, [0x10, 0x85]), payload: [5, 6, 7], padding: [0, 0, 3])
        let rtp = try #require(header(packet.bytes))
        #expect(rtp.payload_type == 96 && rtp.marker && rtp.sequence == 0xFFFE && rtp.timestamp == 0xDEAD_BEEF)
        #expect(rtp.ssrc == 7 && rtp.csrc_count == 2)
        #expect(rtp.payload_offset == 12 + 8 + 8 && rtp.payload_size == 3)
    }

    @Test func everyTruncationIsRefusedOrShorter() throws {
        let packet = Packet(sources: [8], extensions: (0xBEDE, [0x10, 0x85, 0x21, 1, 2]), payload: [1, 2, 3])
        let bytes = packet.bytes
        for count in 0..<bytes.count {
            let cut = header(Array(bytes[..<count]))
            #expect((cut == nil) == (count < bytes.count - 3), "\(count)")
        }
        #expect(header([0x40] + bytes.dropFirst()) == nil, "version 1")
        #expect(header(Packet(payload: [], padding: [0]).bytes) == nil, "padding of nothing")
        #expect(header(Packet(payload: [], padding: [2]).bytes) == nil, "padding beyond the packet")
        #expect(header(Packet(payload: [UInt8](repeating: 0, count: 1488)).bytes) != nil)
        #expect(header(Packet(payload: [UInt8](repeating: 0, count: 1489)).bytes) == nil, "1501 bytes")
        #expect(header(Packet(extensions: (0xBEDE, []), payload: []).bytes) != nil)
    }

    @Test func extensionsOfBothFormsAreFound() {
        let one = Packet(extensions: (0xBEDE, [0x10, 0x85, 0, 0x32, 1, 2, 3, 0x51, 7, 8])).bytes
        #expect(value(1, in: one) == [0x85])
        #expect(value(3, in: one) == [1, 2, 3])
        #expect(value(5, in: one) == [7, 8])
        #expect(value(2, in: one) == nil)
        #expect(value(0, in: one) == nil)
        let two = Packet(extensions: (0x1005, [1, 1, 0x85, 0, 200, 0, 77, 3, 1, 2, 3])).bytes
        #expect(value(1, in: two) == [0x85])
        #expect(value(200, in: two) == [])
        #expect(value(77, in: two) == [1, 2, 3])
        #expect(value(256, in: two) == nil)
        // Another profile's content is nobody's.
        #expect(value(1, in: Packet(extensions: (0x1111, [0x10, 0x85])).bytes) == nil)
    }

    @Test func elementsThatContradictThemselvesEndTheSearch() {
        // A length beyond the block; the reserved id 15; an id without length at the end.
        #expect(value(2, in: Packet(extensions: (0xBEDE, [0x1F, 1, 0x20, 2])).bytes) == nil)
        #expect(value(2, in: Packet(extensions: (0xBEDE, [0xF0, 1, 0x20, 2])).bytes) == nil)
        #expect(value(15, in: Packet(extensions: (0xBEDE, [0xF0, 1])).bytes) == nil)
        #expect(value(2, in: Packet(extensions: (0x1000, [1, 1, 9, 2])).bytes) == nil)
        #expect(value(2, in: Packet(extensions: (0x1000, [2, 200, 9, 2])).bytes) == nil)
        // RFC 8285: an id of 0 with a length is skipped with its bytes.
        #expect(value(2, in: Packet(extensions: (0xBEDE, [0x01, 9, 9, 0x20, 2])).bytes) == [2])
    }

    @Test func typedExtensionsHaveTheirSizes() throws {
        let bytes = Packet(extensions: (0xBEDE, [0x10, 0x85, 0x21, 0x12, 0x34, 0x32, 1, 2, 3])).bytes
        var rtp = try #require(header(bytes))
        var level: UInt8 = 0
        var isVoice = false
        var sequence: UInt16 = 0
        var time: UInt32 = 0
        #expect(cm_rtp_level(&rtp, bytes, 1, &level, &isVoice) && level == 5 && isVoice)
        #expect(cm_rtp_transport_sequence(&rtp, bytes, 2, &sequence) && sequence == 0x1234)
        #expect(cm_rtp_send_time(&rtp, bytes, 3, &time) && time == 0x010203)
        #expect(!cm_rtp_level(&rtp, bytes, 3, &level, &isVoice))
        #expect(!cm_rtp_transport_sequence(&rtp, bytes, 1, &sequence))
        #expect(!cm_rtp_send_time(&rtp, bytes, 2, &time))
        #expect(!cm_rtp_level(&rtp, bytes, 0, &level, &isVoice))
    }

    @Test func levelsOfPacketsWithoutAClaim() throws {
        func level(_ payload: Int, claim: UInt8? = nil) throws -> UInt8 {
            let bytes = Packet(
                extensions: claim.map { (0xBEDE, [0x10, $0]) }, payload: [UInt8](repeating: 1, count: payload)
            ).bytes
            var rtp = try #require(header(bytes))
            return cm_opus_level(&rtp, bytes, 1)
        }
        #expect(try level(11) == 40)
        #expect(try level(10) == 127)
        #expect(try level(80, claim: 20) == 20)
        // Frames of up to 3 bytes are silence, whatever they claim.
        #expect(try level(3, claim: 0) == 127)
        #expect(try level(4, claim: 0) == 0)
    }

    @Test func aHeaderIsWritten() throws {
        var out = cm_rtp_header()
        out.ssrc = 1
        out.csrc = 0xFFFF_FFFF
        out.timestamp = 3
        out.sequence = 4
        out.payload_type = 96
        out.marker = true
        var bytes = [UInt8](repeating: 0xAA, count: 64)
        #expect(cm_rtp_write(&out, &bytes, bytes.count) == 16)
        #expect(bytes[..<16].elementsEqual([0x81, 0xE0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 1, 255, 255, 255, 255]))
        out.ids = cm_extension_ids(send_time: 3, mid: 14)
        out.send_time = 0x123456
        out.mid_size = 2
        out.mid.0 = 97
        out.mid.1 = 49
        let size = cm_rtp_write(&out, &bytes, bytes.count)
        #expect(size == 16 + 4 + 8)
        let written = Array(bytes[..<size]) + [1]
        #expect(value(3, in: written) == [0x12, 0x34, 0x56])
        #expect(value(14, in: written) == Array("a1".utf8))
        #expect(cm_rtp_write(&out, &bytes, size - 1) == 0)
        #expect(cm_rtp_write(&out, &bytes, size) == size)
        out.ids.mid = 15
        #expect(cm_rtp_write(&out, &bytes, bytes.count) == 0)
    }
}
