import CMedia
import CMediaNode
import MediaEngineLogic

@testable import MediaClient

/// A client's checks and reports, and what a node says to them.
///
/// An input is a list of steps: a byte, whose lower three bits say what comes, and whose upper five how much time
/// passes then (10 ms each), and the step's own bytes.
struct MediaClientPath {
    private enum Step: UInt8 {
        /// A compound of RTCP, decrypted, after two bytes of size.
        case compound
        /// The same with the node's report about the client: 16 bits each of loss, numbers and delay.
        case reportOfNode
        /// A datagram that has come as STUN, after two bytes of size.
        case stun
        /// The client checks.
        case check
        /// The node answers: which check, how, and attributes after two bytes of size.
        case answer
        /// A packet of a slot: the slot, and 16 bits each of sequence number and timestamp.
        case audio
        /// The client reports.
        case report
        /// Seconds pass.
        case pause
    }

    private static let ssrc: UInt32 = 7
    private static let password = "a password of the node"

    private var checks = PathChecks(ufrag: "ufrag", password: Self.password)
    private var reports = PathReports(ssrc: Self.ssrc, name: "name")
    /// The checks that can be answered, and when they were sent.
    private var asked: [(transaction: [UInt8], sent: MediaInstant)] = []
    private var slots: Set<UInt32> = []
    private var now = MediaInstant(microseconds: 1_000_000)

    mutating func run(_ bytes: [UInt8]) {
        var reader = FuzzReader(bytes)
        while let how = reader.next(), let step = Step(rawValue: how & 7) {
            perform(step, &reader)
            now = now + .milliseconds(Int(how >> 3) * 10)
            holds(0...100 ~= reports.lostPercent, "a loss is a percentage")
            if let trip = reports.roundTrip { holds(trip >= .zero && trip < .seconds(60), "a round trip is one") }
        }
        report()
    }

    private mutating func perform(_ step: Step, _ reader: inout FuzzReader) {
        switch step {
        case .compound: reports.receive(report: reader.block(), now: now)
        case .reportOfNode: reportOfNode(lost: reader.number(), numbers: reader.number(), delay: reader.number())
        case .stun:
            // Nobody guesses a transaction: those of checks are random, and not the input's.
            holds(checks.receive(reader.block(), now: now) == .ignored, "only answers count")
        case .check: check()
        case .answer: answer(reader.number(), how: reader.number(), attributes: reader.block())
        case .audio: receive(slot: reader.number(), sequence: reader.number(), timestamp: reader.number())
        case .report: report()
        case .pause: now = now + .seconds(Int(reader.number(UInt8.self)))
        }
    }

    // MARK: - Reports

    private mutating func reportOfNode(lost: UInt16, numbers: UInt16, delay: UInt16) {
        // What the node has of a report of ours that was sent before that delay.
        let ntp = UInt32(truncatingIfNeeded: now.microseconds * 65_536 / 1_000_000)
        var block = cm_report_block()
        block.ssrc = Self.ssrc
        block.lost = Int32(Int16(bitPattern: lost)) * 256
        block.sequence = UInt32(numbers) << 4
        block.last_report = delay & 1 == 0 ? ntp &- UInt32(delay) : UInt32(delay)
        block.delay = UInt32(delay >> 1)
        var bytes = [UInt8](repeating: 0, count: 100)
        let size = bytes.withUnsafeMutableBufferPointer { to in
            var writer = cm_rtcp_writer(to: to.baseAddress, capacity: to.count, size: 0, is_full: false)
            cm_rtcp_put_receiver_report(&writer, 1, &block, 1)
            return writer.size
        }
        reports.receive(report: Array(bytes[..<size]), now: now)
    }

    private mutating func receive(slot: UInt8, sequence: UInt16, timestamp: UInt16) {
        var bytes: [UInt8] = [0x81, 111]
        bytes.append(bigEndian: sequence)
        bytes.append(bigEndian: UInt32(timestamp) << 8)
        bytes.append(bigEndian: UInt32(slot & 15))
        bytes.append(bigEndian: UInt32(1))
        guard let datagram = AudioDatagram(bytes, payloadType: 111) else {
            fatalError("does not hold: a packet is one")
        }
        reports.receive(datagram, now: now)
        slots.insert(datagram.ssrc)
    }

    private mutating func report() {
        let bytes = reports.report(packets: UInt32(slots.count & 1), bytes: 9, timestamp: 960, now: now)
        holds(cm_rtcp_is_valid(bytes, bytes.count), "a report is a compound")
        var (part, position) = (cm_rtcp(), 0)
        holds(cm_rtcp_next(&part, bytes, bytes.count, &position), "a report has a part")
        holds(Int(part.items) == slots.count, "a report is about the slots that were heard")
        for index in 0..<UInt32(part.items) {
            holds(slots.contains(cm_rtcp_block(&part, bytes, index).ssrc), "a block is about a slot")
        }
    }

    // MARK: - Checks

    private mutating func check() {
        let bytes = checks.request(now: now)
        var stun = cm_stun()
        holds(cm_stun_read(&stun, bytes, bytes.count) && stun.kind == CM_STUN_REQUEST, "a check is a request")
        asked.append((withUnsafeBytes(of: &stun.transaction) { Array($0) }, now))
        if asked.count > PathChecks.waitingBound { asked.removeFirst() }
    }

    /// Answers a check; `how` has the kind of the message in its lower two bits, then whether its password is wrong.
    private mutating func answer(_ index: UInt8, how: UInt8, attributes: [UInt8]) {
        guard !asked.isEmpty, attributes.count <= 1400 else { return }
        let (transaction, sent) = asked[Int(index) % asked.count]
        let isForged = how & 4 != 0
        var message = StunMessage(type: [0x0101, 0x0111, 0x0001, 0x0101][Int(how & 3)], transaction: transaction)
        message.put(attributes)
        let place = message.bytes.count
        message.seal(password: isForged ? "another one" : Self.password)
        var stun = cm_stun()
        let isRead = cm_stun_read(&stun, message.bytes, message.bytes.count)
        // Attributes of the input may have an integrity of their own, which is the one that counts then.
        let isRight = isRead && stun.kind != CM_STUN_REQUEST && !isForged && Int(stun.integrity_offset) == place
        let outcome = checks.receive(message.bytes, now: now)
        guard isRight else { return holds(outcome == .ignored, "only right answers count") }
        asked.remove(at: Int(index) % asked.count)
        let expected: PathChecks.Outcome =
            stun.kind == CM_STUN_SUCCESS ? .answered(roundTrip: now - sent) : .refused(code: Int(stun.error))
        holds(outcome == expected, "a right answer counts")
        holds(checks.receive(message.bytes, now: now) == .ignored, "an answer counts once")
    }
}

/// A message of STUN as a node may write it. Source: RFC 8489.
private struct StunMessage {
    private(set) var bytes: [UInt8]

    init(type: UInt16, transaction: [UInt8]) {
        bytes = []
        bytes.append(bigEndian: type)
        bytes.append(bigEndian: UInt16(0))
        bytes.append(bigEndian: UInt32(0x2112_A442))
        bytes += transaction
    }

    /// Appends attributes as they are, up to whole words.
    mutating func put(_ attributes: [UInt8]) { bytes += attributes.prefix(attributes.count / 4 * 4) }

    /// Appends MESSAGE-INTEGRITY and FINGERPRINT.
    mutating func seal(password: String) {
        setSize(more: 24)
        let key = Array(password.utf8)
        var code = [UInt8](repeating: 0, count: Int(CM_HMAC_SHA1_SIZE))
        holds(cm_hmac_sha1(key, key.count, bytes, bytes.count, &code), "an HMAC is computed")
        bytes += [0, 8, 0, 20] + code
        setSize(more: 8)
        let crc = bytes.reduce(UInt32.max) { crc, byte in
            (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0xEDB8_8320 }
        }
        bytes += [0x80, 0x28, 0, 4]
        bytes.append(bigEndian: ~crc ^ 0x5354_554E)
    }

    private mutating func setSize(more: Int) {
        let size = UInt16(bytes.count - 20 + more)
        bytes[2] = UInt8(size >> 8)
        bytes[3] = UInt8(size & 0xFF)
    }
}
