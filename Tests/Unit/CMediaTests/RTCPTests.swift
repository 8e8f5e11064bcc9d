import CMedia
import Testing

@Suite struct RTCPTests {
    /// Writes into a buffer of this size.
    private func written(_ capacity: Int = 1500, _ write: (inout cm_rtcp_writer) -> Void) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xEE, count: capacity)
        let size = bytes.withUnsafeMutableBufferPointer { buffer in
            var writer = cm_rtcp_writer(to: buffer.baseAddress, capacity: capacity, size: 0, is_full: false)
            write(&writer)
            return writer.size
        }
        return Array(bytes[..<size])
    }

    private func read(_ bytes: [UInt8]) -> [cm_rtcp] {
        var packets: [cm_rtcp] = []
        var position = 0
        var packet = cm_rtcp()
        while cm_rtcp_next(&packet, bytes, bytes.count, &position) { packets.append(packet) }
        return packets
    }

    private static let block = cm_report_block(
        ssrc: 9, fraction_lost: 64, lost: -5, sequence: 0x1_0002, jitter: 77, last_report: 0x1234_5678, delay: 65_536)

    @Test func reportsComeBack() throws {
        let bytes = written { writer in
            var report = cm_sender_report(ntp: 0x0102_0304_0506_0708, timestamp: 11, packets: 12, bytes: 13)
            var blocks = [Self.block, Self.block]
            blocks[1].ssrc = 10
            blocks[1].lost = 0x7FFF_FFFF
            cm_rtcp_put_sender_report(&writer, 1, &report, &blocks, 2)
            cm_rtcp_put_receiver_report(&writer, 2, &blocks, 1)
            cm_rtcp_put_name(&writer, [1, 2], 2, "name", 4)
            cm_rtcp_put_bye(&writer, 3)
        }
        #expect(cm_rtcp_is_valid(bytes, bytes.count))
        var packets = read(bytes)
        #expect(
            packets.map(\.kind) == [CM_RTCP_SENDER_REPORT, CM_RTCP_RECEIVER_REPORT, CM_RTCP_OTHER, CM_RTCP_BYE])
        #expect(packets[0].ssrc == 1 && packets[0].report.ntp == 0x0102_0304_0506_0708)
        #expect(packets[0].report.timestamp == 11 && packets[0].report.packets == 12 && packets[0].report.bytes == 13)
        #expect(packets[0].items == 2 && packets[1].items == 1)
        let first = cm_rtcp_block(&packets[0], bytes, 0)
        #expect(first.ssrc == 9 && first.fraction_lost == 64 && first.lost == -5 && first.sequence == 0x1_0002)
        #expect(first.jitter == 77 && first.last_report == 0x1234_5678 && first.delay == 65_536)
        #expect(cm_rtcp_block(&packets[0], bytes, 1).lost == 0x7F_FFFF)
        #expect(cm_rtcp_block(&packets[0], bytes, 2).ssrc == 0)
        #expect(cm_rtcp_ssrc(&packets[3], bytes, 0) == 3)
    }

    /// Bytes as RFC 3550 and 4585 draw them.
    @Test func goldenBytes() {
        #expect(written { cm_rtcp_put_pli(&$0, 1, 2) } == [0x81, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2])
        #expect(
            written { cm_rtcp_put_fir(&$0, 1, 2, 3) }
                == [0x84, 206, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 3, 0, 0, 0])
        #expect(
            written { cm_rtcp_put_nack(&$0, 1, 2, [0xFFFF, 0, 15, 16, 100], 5) }
                == [0x81, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0xFF, 0xFF, 0x80, 1, 0, 16, 0, 0, 0, 100, 0, 0])
        #expect(
            written { cm_rtcp_put_remb(&$0, 1, 1_000_000, [7], 1) }
                == [0x8F, 206, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0x52, 0x45, 0x4D, 0x42, 1, 0x0B, 0xD0, 0x90, 0, 0, 0, 7])
        #expect(
            written { cm_rtcp_put_name(&$0, [5], 1, "ab", 2) }
                == [0x81, 202, 0, 3, 0, 0, 0, 5, 1, 2, 97, 98, 0, 0, 0, 0])
    }

    @Test func missingPacketsAreNamed() throws {
        let lost: [UInt16] = [65_535, 0, 15, 16, 100]
        let bytes = written { cm_rtcp_put_nack(&$0, 1, 2, lost, 5) }
        var packet = try #require(read(bytes).first)
        #expect(packet.kind == CM_RTCP_NACK && packet.media_ssrc == 2 && packet.items == 3)
        var named: [UInt16] = []
        for index in 0..<UInt32(packet.items) {
            var (first, following): (UInt16, UInt16) = (0, 0)
            cm_rtcp_nack(&packet, bytes, index, &first, &following)
            named.append(first)
            named += (0..<16).filter { following >> $0 & 1 == 1 }.map { first &+ UInt16($0) &+ 1 }
        }
        #expect(named == lost)
        var (first, following): (UInt16, UInt16) = (1, 1)
        cm_rtcp_nack(&packet, bytes, 3, &first, &following)
        #expect(first == 0 && following == 0)
    }

    @Test func ceilingsAreRounded() throws {
        for bitrate: UInt64 in [0, 1, 0x3FFFF, 0x40000, 8_000_000, 1 << 40] {
            let bytes = written { cm_rtcp_put_remb(&$0, 1, bitrate, [7, 8], 2) }
            var packet = try #require(read(bytes).first)
            #expect(packet.kind == CM_RTCP_REMB && packet.items == 2)
            #expect(packet.bitrate <= bitrate && packet.bitrate >= bitrate - bitrate / 100_000)
            #expect(cm_rtcp_ssrc(&packet, bytes, 1) == 8 && cm_rtcp_ssrc(&packet, bytes, 2) == 0)
        }
        // An exponent of 63.
        let bytes: [UInt8] = [0x8F, 206, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0x52, 0x45, 0x4D, 0x42, 0, 0xFF, 0xFF, 0xFF]
        #expect(try #require(read(bytes).first).bitrate == .max)
        // A count beyond the packet, and other feedback of applications.
        #expect(read(Array(bytes[..<16]) + [1] + Array(bytes[17...])).first?.kind == CM_RTCP_OTHER)
        #expect(read(Array(bytes[..<12]) + [1, 2, 3, 4] + Array(bytes[16...])).first?.kind == CM_RTCP_OTHER)
    }

    @Test func fullIntraRequestsAreRead() throws {
        let bytes = written { cm_rtcp_put_fir(&$0, 1, 0x0102_0304, 3) }
        var packet = try #require(read(bytes).first)
        #expect(packet.kind == CM_RTCP_FIR && packet.items == 1)
        #expect(cm_rtcp_ssrc(&packet, bytes, 0) == 0x0102_0304)
    }

    @Test func everyTruncationIsRefused() {
        let bytes = written { writer in
            var report = cm_sender_report()
            var blocks = [Self.block]
            cm_rtcp_put_sender_report(&writer, 1, &report, &blocks, 1)
            cm_rtcp_put_nack(&writer, 1, 2, [1, 50], 2)
        }
        for count in 0..<bytes.count {
            let cut = Array(bytes[..<count])
            #expect(cm_rtcp_is_valid(cut, count) == (count == 52), "\(count)")
            #expect(read(cut).count == (count >= 52 ? 1 : 0), "\(count)")
        }
        #expect(read(bytes).count == 2)
    }

    @Test func countsAndPaddingThatLieAreRefused() {
        // A report of one block without it.
        #expect(read([0x81, 201, 0, 1, 0, 0, 0, 1]).isEmpty)
        #expect(read([0x81, 200, 0, 6] + [UInt8](repeating: 0, count: 24)).isEmpty)
        #expect(read([0x83, 203, 0, 1, 0, 0, 0, 1]).isEmpty)
        // Feedback without its source.
        #expect(read([0x81, 205, 0, 1, 0, 0, 0, 1]).isEmpty)
        // Padding of nothing, and of more than there is.
        #expect(read([0xA0, 201, 0, 1, 0, 0, 0, 0]).isEmpty)
        #expect(read([0xA0, 201, 0, 1, 0, 0, 0, 5]).isEmpty)
        // Another version, and a header alone.
        #expect(read([0x40, 201, 0, 1, 0, 0, 0, 1]).isEmpty)
        #expect(read([0x80, 201, 0, 0]).map(\.kind) == [CM_RTCP_OTHER])
        let padded: [UInt8] = [0xA0, 201, 0, 1, 0, 0, 0, 1, 0x80, 201, 0, 1, 0, 0, 0, 1]
        #expect(!cm_rtcp_is_valid(padded, padded.count), "padding within a compound")
        let long = [UInt8](repeating: 0x80, count: 1504)
        #expect(!cm_rtcp_is_valid(long, long.count))
    }

    @Test func whatDoesNotFitIsLeftOut() {
        let bytes = written(31) { writer in
            cm_rtcp_put_pli(&writer, 1, 2)
            cm_rtcp_put_pli(&writer, 1, 3)
            cm_rtcp_put_bye(&writer, 1)
            #expect(writer.is_full)
        }
        #expect(bytes.count == 24)
        var blocks = [cm_report_block](repeating: Self.block, count: 40)
        let many = written { cm_rtcp_put_receiver_report(&$0, 1, &blocks, 40) }
        #expect(read(many).first?.items == 31)
        let long = written { cm_rtcp_put_name(&$0, [1], 1, String(repeating: "x", count: 300), 300) }
        #expect(long.count == 4 + 72)
        #expect(written { cm_rtcp_put_nack(&$0, 1, 2, [], 0) }.isEmpty)
        let lost = (0..<200).map { UInt16($0 * 20) }
        #expect(read(written { cm_rtcp_put_nack(&$0, 1, 2, lost, 200) }).first?.items == 100)
    }
}
