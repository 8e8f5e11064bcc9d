@testable import MediaClient

/// What a client decrypts, beside a model of what it may take: authentic packets, none twice, and none from too long
/// ago. What is not authentic leaves no trace: all that comes later is judged as if it had not been there.
///
/// An input is a list of steps: a byte, whose lower three bits say what comes, and the step's own bytes.
struct MediaClientSRTP {
    private enum Step: UInt8 {
        /// Any datagram, after two bytes of size.
        case datagram
        /// The node's packet: the source, 16 bits of distance from the latest one, and the size of its payload.
        case rtp
        /// The same with 48 bits of index.
        case rtpFarAway
        /// A report: the source, and 16 bits of distance from the latest one.
        case rtcp
        /// The same with 31 bits of index.
        case rtcpFarAway
        /// One of the last packets with one bit that is different: which packet, and 16 bits of which bit.
        case altered
        /// One of the last packets, once more.
        case again
        /// One of the last packets, which has lost its end: which one, and how many bytes.
        case cut
    }

    private struct Sent {
        var bytes: [UInt8]
        var plain: [UInt8]
        var ssrc: UInt32
        var index: UInt64
        var isReport: Bool
    }

    /// What was taken of one source.
    private struct Taken {
        var latest: UInt64?
        var all: Set<UInt64> = []

        /// The index nearest to the latest one that has those last 16 bits; nil when there is none.
        func index(_ sequence: UInt16) -> UInt64? {
            guard let latest else { return UInt64(sequence) }
            let candidates = [-1, 0, 1].map { (Int64(latest) >> 16 + $0) << 16 | Int64(sequence) }
            // Half of all numbers away it is the one before.
            let nearest = candidates.first { -32_768..<32_768 ~= $0 - Int64(latest) }
            guard let nearest, nearest >= 0, nearest < 1 << 48 else { return nil }
            return UInt64(nearest)
        }

        func takes(_ index: UInt64) -> Bool {
            guard let latest, index <= latest else { return true }
            return latest - index < SRTPReplayWindow.size && !all.contains(index)
        }

        mutating func take(_ index: UInt64) {
            all.insert(index)
            latest = max(latest ?? index, index)
        }
    }

    private static let key: SRTPKey = {
        guard let key = SRTPKey(Array(1...28)) else { fatalError("28 bytes") }
        return key
    }()
    private static let rtpCipher = key.rtp
    private static let rtcpCipher = key.rtcp
    private static let keptBound = 16

    private var receiver = SRTPReceiver(rtp: Self.rtpCipher, rtcp: Self.rtcpCipher)
    private var packets: [UInt32: Taken] = [:]
    private var reports: [UInt32: Taken] = [:]
    private var kept: [Sent] = []

    mutating func run(_ bytes: [UInt8]) {
        var reader = FuzzReader(bytes)
        while let how = reader.next(), let step = Step(rawValue: how & 7) { perform(step, variant: how >> 3, &reader) }
    }

    private mutating func perform(_ step: Step, variant: UInt8, _ reader: inout FuzzReader) {
        switch step {
        case .datagram: refuse(reader.block())
        case .rtp:
            let ssrc = UInt32(reader.number(UInt8.self))
            let index = Self.moved(packets[ssrc]?.latest, by: reader.number(), bits: 48)
            send(rtp(ssrc, index, variant, size: Int(reader.number(UInt8.self))))
        case .rtpFarAway:
            let ssrc = UInt32(reader.number(UInt8.self))
            let index = UInt64(reader.number(UInt16.self)) << 32 | UInt64(reader.number(UInt32.self))
            send(rtp(ssrc, index, variant, size: 10))
        case .rtcp:
            let ssrc = UInt32(reader.number(UInt8.self))
            send(rtcp(ssrc, Self.moved(reports[ssrc]?.latest, by: reader.number(), bits: 31), variant))
        case .rtcpFarAway:
            let ssrc = UInt32(reader.number(UInt8.self))
            send(rtcp(ssrc, UInt64(reader.number(UInt32.self) & 0x7FFF_FFFF), variant))
        case .altered:
            guard var bytes = pick(reader.number())?.bytes else { return }
            let bit = Int(reader.number(UInt16.self)) % (8 * bytes.count)
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            refuse(bytes)
        case .again: if let sent = pick(reader.number()) { judge(sent) }
        case .cut:
            guard let bytes = pick(reader.number())?.bytes else { return }
            refuse(bytes.dropLast(1 + Int(reader.number(UInt8.self))))
        }
    }

    private static func moved(_ latest: UInt64?, by distance: UInt16, bits: Int) -> UInt64 {
        let index = Int64(latest ?? 0) + Int64(Int16(bitPattern: distance))
        return UInt64(min(max(index, 0), 1 << bits - 1))
    }

    private func pick(_ which: UInt8) -> Sent? { kept.isEmpty ? nil : kept[Int(which) % kept.count] }

    // MARK: - What the node sends

    private func rtp(_ ssrc: UInt32, _ index: UInt64, _ variant: UInt8, size: Int) -> Sent {
        var bytes: [UInt8] = [0x80 | variant & 3 | (variant & 4) << 2, 111]
        bytes.append(bigEndian: UInt16(truncatingIfNeeded: index))
        bytes.append(bigEndian: UInt32(960))
        bytes.append(bigEndian: ssrc)
        bytes += [UInt8](repeating: 1, count: 4 * Int(variant & 3))
        if variant & 4 != 0 { bytes += [0xBE, 0xDE, 0, 1, 0x10, 0, 0, 0] }
        let header = bytes.count
        bytes += [UInt8](repeating: 9, count: size)
        var sent = Sent(bytes: bytes, plain: bytes, ssrc: ssrc, index: index, isReport: false)
        Self.rtpCipher.seal(&sent.bytes, header: header, nonce: SRTPNonce(ssrc: ssrc, index: index))
        return sent
    }

    private func rtcp(_ ssrc: UInt32, _ index: UInt64, _ variant: UInt8) -> Sent {
        var bytes: [UInt8] = [0x80, 200 + variant % 8, 0, 1]
        bytes.append(bigEndian: ssrc)
        bytes += [UInt8](repeating: 9, count: 4 * Int(variant))
        var sent = Sent(bytes: bytes, plain: bytes, ssrc: ssrc, index: index, isReport: true)
        let trailer = SRTPHeader.bytes(SRTPHeader.encrypted | UInt32(index))
        Self.rtcpCipher.seal(
            &sent.bytes, header: SRTPHeader.rtcpSize, trailer: trailer, nonce: SRTPNonce(ssrc: ssrc, index: index))
        sent.bytes += trailer
        return sent
    }

    private mutating func send(_ sent: Sent) {
        if kept.count == Self.keptBound { kept.removeFirst() }
        kept.append(sent)
        judge(sent)
    }

    // MARK: - What the client takes

    private mutating func judge(_ sent: Sent) {
        holds(SRTPReceiver.isRTCP(sent.bytes) == sent.isReport, "packets and reports are told apart")
        var bytes = sent.bytes
        let isTaken = open(&bytes)
        holds(isTaken == isExpected(sent), "what is authentic is taken once")
        holds(bytes == (isTaken ? sent.plain : sent.bytes), "what is taken is what was sent")
        guard isTaken else { return }
        if sent.isReport {
            reports[sent.ssrc, default: Taken()].take(sent.index)
        } else {
            packets[sent.ssrc, default: Taken()].take(sent.index)
        }
    }

    private func isExpected(_ sent: Sent) -> Bool {
        let known = Set(packets.keys).union(reports.keys)
        guard known.contains(sent.ssrc) || known.count < SRTPReceiver.sourceBound else { return false }
        if sent.isReport { return (reports[sent.ssrc] ?? Taken()).takes(sent.index) }
        let taken = packets[sent.ssrc] ?? Taken()
        return taken.index(UInt16(truncatingIfNeeded: sent.index)) == sent.index && taken.takes(sent.index)
    }

    private mutating func refuse(_ datagram: [UInt8]) {
        var bytes = datagram
        holds(!open(&bytes), "what is not authentic is not taken")
        holds(bytes == datagram, "what is not taken stays as it was")
    }

    private mutating func open(_ bytes: inout [UInt8]) -> Bool {
        do throws(SRTPError) {
            if SRTPReceiver.isRTCP(bytes) {
                try receiver.unprotectRTCP(&bytes)
            } else {
                try receiver.unprotectRTP(&bytes)
            }
            return true
        } catch {
            return false
        }
    }
}
