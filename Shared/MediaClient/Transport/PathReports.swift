internal import CMedia
internal import MediaEngineLogic

/// The reports between a client and its node: what the client sends and has received, once a second, and what the node
/// says of it. Source: RFC 3550 section 6.4.
struct PathReports {
    /// Between two reports of ours.
    static let interval: MediaInterval = .seconds(1)
    /// Over how many packets at least the loss of ours is judged: those of a second.
    private static let judgedPackets: UInt32 = 50
    /// The greatest round trip that is believed; a nonsensical report gives more.
    private static let greatestRoundTrip: MediaInterval = .seconds(60)

    private let ssrc: UInt32
    private let name: [UInt8]
    private var slots: [UInt32: cm_reception] = [:]
    /// Of the sender reports of the node: when it came, and the middle of its NTP time.
    private var heard: [UInt32: (arrival: MediaInstant, middle: UInt32)] = [:]
    private var judged: (highest: UInt32, lost: Int32)?
    /// From the node's reports: the packets of ours that it misses, in percent.
    private(set) var lostPercent = 0
    private(set) var roundTrip: MediaInterval?

    /// - Parameters:
    ///   - ssrc: the client's own.
    ///   - name: the canonical name, the same for a whole call.
    init(ssrc: UInt32, name: String) {
        self.ssrc = ssrc
        self.name = Array(name.utf8.prefix(64))
    }

    /// Counts a packet of a slot.
    mutating func receive(_ datagram: AudioDatagram, now: MediaInstant) {
        var header = datagram.header
        // No retransmission is asked for, so nothing follows from what is missing.
        _ = cm_reception_put(&slots[datagram.ssrc, default: cm_reception()], &header, 48_000, UInt64(now.microseconds))
    }

    /// Reads an authentic compound.
    mutating func receive(report bytes: [UInt8], now: MediaInstant) {
        guard cm_rtcp_is_valid(bytes, bytes.count) else { return }
        var position = 0
        var part = cm_rtcp()
        while cm_rtcp_next(&part, bytes, bytes.count, &position) {
            // Only of slots that are heard: a node could name any number of sources.
            if part.kind == CM_RTCP_SENDER_REPORT, slots[part.ssrc] != nil {
                heard[part.ssrc] = (now, UInt32(truncatingIfNeeded: part.report.ntp >> 16))
            }
            guard part.kind == CM_RTCP_SENDER_REPORT || part.kind == CM_RTCP_RECEIVER_REPORT else { continue }
            for index in 0..<UInt32(part.items) {
                let block = cm_rtcp_block(&part, bytes, index)
                if block.ssrc == ssrc { judge(block, now: now) }
            }
        }
    }

    /// The client's report.
    /// - Parameters:
    ///   - sent: the packets and bytes of payload that were sent; nothing is said of none.
    ///   - timestamp: the RTP timestamp of that moment.
    mutating func report(packets: UInt32, bytes: UInt32, timestamp: UInt32, now: MediaInstant) -> [UInt8] {
        var blocks = slots.keys.sorted().map { block($0, now: now) }
        var to = [UInt8](repeating: 0, count: Int(CM_PACKET_SIZE))
        let size = to.withUnsafeMutableBufferPointer { to in
            var writer = cm_rtcp_writer(to: to.baseAddress, capacity: to.count, size: 0, is_full: false)
            if packets > 0 {
                var report = cm_sender_report(
                    ntp: Self.ntp(now), timestamp: timestamp, packets: packets, bytes: bytes)
                cm_rtcp_put_sender_report(&writer, ssrc, &report, &blocks, UInt32(blocks.count))
            } else {
                cm_rtcp_put_receiver_report(&writer, ssrc, &blocks, UInt32(blocks.count))
            }
            var source = ssrc
            name.withUnsafeBufferPointer { name in
                name.withMemoryRebound(to: CChar.self) {
                    cm_rtcp_put_name(&writer, &source, 1, $0.baseAddress, $0.count)
                }
            }
            return writer.size
        }
        return Array(to[..<size])
    }

    private mutating func block(_ source: UInt32, now: MediaInstant) -> cm_report_block {
        var block = cm_report_block()
        cm_reception_report(&slots[source, default: cm_reception()], &block)
        block.ssrc = source
        if let report = heard[source] {
            block.last_report = report.middle
            block.delay = UInt32(clamping: (now - report.arrival).microseconds * 65_536 / 1_000_000)
        }
        return block
    }

    private mutating func judge(_ block: cm_report_block, now: MediaInstant) {
        if block.last_report != 0 {
            let elapsed = Self.middle(now) &- block.last_report &- block.delay
            let trip = MediaInterval(microseconds: Int64(elapsed) * 1_000_000 / 65_536)
            if trip < Self.greatestRoundTrip { roundTrip = trip }
        }
        guard let before = judged else {
            judged = (block.sequence, block.lost)
            return
        }
        let expected = block.sequence &- before.highest
        guard expected >= Self.judgedPackets else { return }
        judged = (block.sequence, block.lost)
        let lost = Int64(block.lost) - Int64(before.lost)
        lostPercent = Int(min(max(lost * 100 / Int64(expected), 0), 100))
    }

    /// The time as NTP has it. Only differences matter, so that it is that of the steady clock (RFC 3550 section 4).
    private static func ntp(_ now: MediaInstant) -> UInt64 {
        let (seconds, rest) = UInt64(now.microseconds).quotientAndRemainder(dividingBy: 1_000_000)
        return seconds << 32 | (rest << 32) / 1_000_000
    }

    private static func middle(_ now: MediaInstant) -> UInt32 { UInt32(truncatingIfNeeded: ntp(now) >> 16) }
}
