import MediaEngineLogic
import Testing

@testable import MediaClient

@Suite struct PathReportsTests {
    private static let slot: UInt32 = 100
    private let arrival = MediaInstant(microseconds: 1_000_000)

    /// A sender report of the node: its NTP time, a timestamp, and what was sent.
    private func senderReport(_ ssrc: UInt32) -> [UInt8] {
        [0x80, 200, 0, 6] + SRTPHeader.bytes(ssrc) + [0, 0, 0x12, 0x34, 0x56, 0x78, 0, 0]
            + [UInt8](repeating: 1, count: 12)
    }

    /// A packet of a slot, with its speaker.
    private func datagram(_ sequence: UInt8) throws -> AudioDatagram {
        let bytes = [0x81, 111, 0, sequence, 0, 0, 0, 0] + SRTPHeader.bytes(Self.slot) + [0, 0, 0, 1, 9]
        return try #require(AudioDatagram(bytes, payloadType: 111))
    }

    /// What the client's next report says of the slot: the middle of the NTP time of the slot's last
    /// report, and the time since then.
    private func lastReport(_ reports: inout PathReports, after time: MediaInterval) -> (middle: UInt32, delay: UInt32)
    {
        let bytes = reports.report(packets: 0, bytes: 0, timestamp: 0, now: arrival + time)
        #expect(bytes[0] & 31 == 1 && bytes[1] == 201)
        #expect(SRTPHeader.word(bytes, at: 8) == Self.slot)
        return (SRTPHeader.word(bytes, at: 24), SRTPHeader.word(bytes, at: 28))
    }

    @Test func aSlotsReportIsReferredTo() throws {
        var reports = PathReports(ssrc: 7, name: "name")
        reports.receive(try datagram(1), now: arrival)
        reports.receive(report: senderReport(Self.slot), now: arrival)
        #expect(lastReport(&reports, after: .seconds(2)) == (0x1234_5678, 2 * 65_536))
    }

    /// Else a node could fill the client's memory, 50 sources with each report.
    @Test func reportsOfUnheardSourcesAreForgotten() throws {
        var reports = PathReports(ssrc: 7, name: "name")
        reports.receive(report: senderReport(Self.slot), now: arrival)
        reports.receive(try datagram(1), now: arrival)
        #expect(lastReport(&reports, after: .seconds(2)) == (0, 0))
    }
}
