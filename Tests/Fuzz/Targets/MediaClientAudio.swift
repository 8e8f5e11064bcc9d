import CMedia
import MediaEngineLogic

@testable import MediaClient

/// A client's ears: what comes decrypted from its node, as `MediaPath` and `CallDriver` handle it, to the sound that is
/// played.
///
/// An input is a list of steps: a byte, whose lower three bits say what comes, and whose upper five how much time
/// passes then (5 ms each; 31: 3 s, in which the loudspeaker asks for nothing), and the step's own bytes.
struct MediaClientAudio {
    private enum Step: UInt8 {
        /// A datagram: two bytes of size, and as many bytes.
        case datagram
        /// The next packet of a slot: which one and who speaks, in a byte, and its payload, like a datagram.
        case payload
        /// The same with a frame of real sound.
        case sound
        /// The numbers of a slot go on elsewhere: the slot, and 16 bits each for sequence number and timestamp.
        case jump
        /// The packet before comes again.
        case again
        /// The loudspeaker asks for more than its time: how many frames, up to 15.
        case hurry
        /// The user mutes somebody, changes the volume, or the slots change.
        case act
        /// The call's report is due.
        case report
    }

    private static let payloadType: UInt8 = 111
    private static let slots: [UInt32] = [100, 101, 102]
    private static let frame: MediaInterval = .samples(AudioPacket.samples)
    /// The frames that are played of one input: enough for a stream that ends and another one, and each takes a
    /// millisecond.
    private static let frameBound = 200

    /// A second of a tone, encoded once: the fuzzer has one thread.
    private static let sounds: [[UInt8]] = {
        guard let encoder = try? OpusEncoder(bitRate: 32_000) else { fatalError("libopus has no memory") }
        encoder.expect(loss: 10)
        return (0..<50).map { index in
            let frame = (0..<960).map { (sample: Int) -> Int16 in
                let phase = (sample + index * 960) % 100
                return Int16(phase * 200 - 10_000)
            }
            return Array(encoder.encode(frame))
        }
    }()

    private var slots = Self.slots
    private var incoming = IncomingAudio()
    private var reports = PathReports(ssrc: 7, name: "name")
    private var statistics: CallStatistics
    /// The first slot's packets in a buffer of its own, whose counts are seen.
    private var buffer = JitterBuffer()
    private var taken = 0
    private var played = 0
    private var numbers: [UInt32: (sequence: UInt16, timestamp: UInt32)] = [:]
    private var last: [UInt8] = []
    private var now = MediaInstant(microseconds: 1_000_000)
    private var playedUntil = MediaInstant(microseconds: 1_000_000)

    init() {
        statistics = CallStatistics(joined: now)
        for uid in UInt32(0)..<8 { statistics.userJoined(uid, at: now) }
        setSlots(Self.slots)
    }

    mutating func run(_ bytes: [UInt8]) {
        var reader = FuzzReader(bytes)
        while played < Self.frameBound, let how = reader.next(), let step = Step(rawValue: how & 7) {
            perform(step, &reader)
            pass(how >> 3)
            judgeBuffer()
        }
        pass(30)
        report()
    }

    private mutating func perform(_ step: Step, _ reader: inout FuzzReader) {
        switch step {
        case .datagram: receive(reader.block())
        case .payload:
            let who: UInt8 = reader.number()
            receive(packet(who, reader.block()))
        case .sound:
            let who: UInt8 = reader.number()
            receive(packet(who, Self.sounds[Int(now.microseconds / 20_000) % Self.sounds.count]))
        case .jump:
            let slot = Self.slots[Int(reader.number(UInt8.self)) % Self.slots.count]
            // Enough of either to be small, far, and around the sign of a step.
            numbers[slot, default: (0, 0)].sequence &+= reader.number()
            numbers[slot, default: (0, 0)].timestamp &+= UInt32(reader.number(UInt16.self)) << 16
        case .again: receive(last)
        case .hurry: for _ in 0..<(reader.number(UInt8.self) & 15) { play() }
        case .act: act(reader.number())
        case .report: report()
        }
    }

    // MARK: - What comes

    private mutating func packet(_ who: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let slot = Self.slots[Int(who >> 4) % Self.slots.count]
        let number = numbers[slot, default: (0, 0)]
        numbers[slot] = (number.sequence &+ 1, number.timestamp &+ 960)
        var bytes: [UInt8] = [0x81, Self.payloadType]
        bytes.append(bigEndian: number.sequence)
        bytes.append(bigEndian: number.timestamp)
        bytes.append(bigEndian: slot)
        bytes.append(bigEndian: UInt32(who & 7))
        return bytes + payload
    }

    private mutating func receive(_ bytes: [UInt8]) {
        last = bytes
        statistics.receive(bytes: bytes.count)
        guard let datagram = AudioDatagram(bytes, payloadType: Self.payloadType) else { return }
        let packet = datagram.packet
        holds(packet.payload.count <= bytes.count - 16, "a payload is in its packet, behind the speaker")
        holds(incoming.has(datagram.ssrc) == slots.contains(datagram.ssrc), "the slots are those of the answer")
        guard slots.contains(datagram.ssrc) else { return }
        reports.receive(datagram, now: now)
        statistics.receiveAudio(
            uid: packet.speaker, sequence: packet.sequence, isFirst: packet.payload.isEmpty, at: now)
        incoming.put(packet, on: datagram.ssrc, arrival: now)
        guard datagram.ssrc == Self.slots[0] else { return }
        buffer.put(packet, arrival: now)
        taken += 1
    }

    private mutating func act(_ what: UInt8) {
        switch what & 7 {
        case 0, 1: incoming.mute(what & 1 == 0, uid: UInt32(what >> 3))
        case 2, 3: incoming.muteAll(what & 1 == 0)
        case 4, 5: incoming.gain = Double(what >> 3) / 8
        case 6: setSlots(Array(Self.slots.prefix(Int(what >> 3) % 4)))
        // An answer that is wrong: one slot twice.
        default: setSlots([Self.slots[1], Self.slots[1], Self.slots[0]])
        }
    }

    private mutating func setSlots(_ ssrcs: [UInt32]) {
        slots = ssrcs
        do {
            try incoming.setSlots(ssrcs)
        } catch {
            fatalError("libopus has no memory: \(error)")
        }
    }

    // MARK: - What is played

    private mutating func pass(_ time: UInt8) {
        guard time < 31 else {
            now = now + .seconds(3)
            playedUntil = now
            return
        }
        now = now + .milliseconds(Int(time) * 5)
        while now - playedUntil >= Self.frame {
            playedUntil = playedUntil + Self.frame
            play()
        }
    }

    private mutating func play() {
        played += 1
        let mix = incoming.play(now: now)
        holds(mix.samples.count == 960, "what is played has the length of a frame")
        holds(mix.voices.count <= Set(slots).count, "a slot has one voice, also when it is named twice")
        for voice in mix.voices {
            holds(voice.samples.count == 960, "a voice has the length of a frame")
            holds(voice.isMuted == incoming.isMuted(voice.uid), "a voice is told apart from those who are muted")
        }
        // The mix is a millisecond late.
        let isQuiet = mix.voices.allSatisfy(\.isMuted)
        holds(!isQuiet || mix.samples.dropFirst(48).allSatisfy { $0 == 0 }, "who is muted is not played")
        _ = buffer.play(now: now)
    }

    private mutating func judgeBuffer() {
        let counts = buffer.counts
        holds(buffer.count <= JitterBuffer.capacity, "what waits is bounded")
        holds(
            buffer.target >= .milliseconds(20) && buffer.target <= .milliseconds(200),
            "a delay that is aimed at is bounded")
        let used = counts.played + counts.shortened + counts.hurried
        let unused = counts.late + counts.duplicates + counts.overflowed + counts.stray
        holds(used + unused + buffer.count <= taken, "a packet is counted once")
        // Of streams that are given up their last packets are not counted, and a stray one may be waited with.
        if counts.streams <= 1 {
            holds(used + unused + buffer.count >= taken - 1, "a packet is counted")
        }
        for (_, delay) in incoming.delays {
            holds(delay >= .zero, "nothing is heard before it has come")
        }
    }

    private mutating func report() {
        for (uid, delay) in incoming.delays { statistics.setDelay(delay, uid: uid) }
        guard let report = statistics.report(at: now, isLast: true) else { return }
        for user in report.users { holds(0...100 ~= user.lostPercent, "a loss is a percentage") }
        let bytes = reports.report(packets: 1, bytes: 1, timestamp: 1, now: now)
        holds(cm_rtcp_is_valid(bytes, bytes.count), "a report is one")
    }
}
