import MediaEngineLogic
import Testing

@testable import MediaClient

@Suite struct AudioTests {
    private static let transport = TransportAnswer(
        host: "192.0.2.1", port: 1, ufrag: "u", password: "w", publicKey: "", ssrc: 0x0102_0304, slots: [1],
        payloadType: 111)

    /// A sawtooth of 480 Hz, which needs no mathematics library.
    private func frame(_ index: Int) -> [Int16] { (0..<960).map { Int16(($0 + index * 960) % 100 * 200 - 10_000) } }

    private func packet(_ index: Int, of audio: inout OutgoingAudio) throws -> OutgoingAudio.Packet {
        let packet = audio.packet(of: frame(index), on: Self.transport)
        return try #require(packet)
    }

    @Test func packetsHaveHeaderLevelAndNumbersInOrder() throws {
        var audio = try OutgoingAudio(bitRate: 32_000)
        let first = try packet(0, of: &audio)
        let second = try packet(1, of: &audio)
        #expect(first.headerSize == 20)
        #expect(first.bytes[0] == 0x90)
        // The first one of a talk has the marker.
        #expect(first.bytes[1] == 111 | 0x80)
        #expect(second.bytes[1] == 111)
        #expect(Array(first.bytes[8..<12]) == [1, 2, 3, 4])
        #expect(Array(first.bytes[12..<17]) == [0xBE, 0xDE, 0, 1, 0x10])
        // The level of the frame, and that it is a voice.
        #expect(first.bytes[17] == VoiceActivityLevel.byte(of: frame(0)))
        #expect(second.timestamp == first.timestamp &+ 960)
        #expect(audio.packets == 2)
    }

    @Test func whatIsMutedTakesTimeButNoNumbers() throws {
        var audio = try OutgoingAudio(bitRate: 32_000)
        let first = try packet(0, of: &audio)
        audio.skip()
        audio.skip()
        let second = try packet(1, of: &audio)
        #expect(second.timestamp == first.timestamp &+ 3 * 960)
        #expect(second.bytes[3] == first.bytes[3] &+ 1)
        #expect(second.bytes[1] & 0x80 != 0)
    }

    /// Plays frames of one speaker through a slot, some of which are lost.
    private func play(
        _ incoming: inout IncomingAudio, frames: Int, lost: Set<Int> = [], loss: Int = 0
    ) throws -> [Int16] {
        let encoder = try OpusEncoder(bitRate: 32_000)
        encoder.expect(loss: loss)
        var heard: [Int16] = []
        for index in 0..<frames {
            let now = MediaInstant(microseconds: Int64(index) * 20_000)
            let payload = Array(encoder.encode(frame(index)))
            if !lost.contains(index) {
                let packet = AudioPacket(
                    sequence: UInt16(index), timestamp: UInt32(index * 960), speaker: 5, payload: payload)
                incoming.put(packet, on: 1, arrival: now)
            }
            heard += incoming.play(now: now).samples
        }
        return heard
    }

    @Test func whatIsSentIsHeard() throws {
        var incoming = IncomingAudio()
        try incoming.setSlots([1])
        let heard = try play(&incoming, frames: 50)
        #expect(AudioLevel.value(of: Array(heard[9600...])) < 20)
        #expect(incoming.playout.concealed == 0)
        #expect(incoming.playout.played >= 45)
    }

    @Test func aMutedUserIsNotHeardAndThenIsAgain() throws {
        var incoming = IncomingAudio()
        try incoming.setSlots([1])
        incoming.mute(true, uid: 5)
        let silent = try play(&incoming, frames: 20)
        #expect(silent.allSatisfy { $0 == 0 })
        incoming.mute(false, uid: 5)
        #expect(!incoming.isMuted(5))
        incoming.muteAll(true)
        #expect(incoming.isMuted(5) && incoming.isMuted(6))
        incoming.mute(false, uid: 5)
        #expect(!incoming.isMuted(5) && incoming.isMuted(6))
        incoming.muteAll(false)
        #expect(!incoming.isMuted(5) && !incoming.isMuted(6))
    }

    @Test func lostFramesAreRecoveredOrConcealed() throws {
        var incoming = IncomingAudio()
        try incoming.setSlots([1])
        let heard = try play(&incoming, frames: 100, lost: [20, 40, 41, 42], loss: 10)
        #expect(incoming.playout.recovered + incoming.playout.concealed >= 4)
        #expect(AudioLevel.value(of: Array(heard[(30 * 960)...])) < 25)
    }

    /// What is aimed at falls when packets come in time again; what is heard waits until
    /// something silent can be left out.
    @Test func theDelayIsThatOfWhatIsHeard() throws {
        var incoming = IncomingAudio()
        try incoming.setSlots([1])
        let encoder = try OpusEncoder(bitRate: 32_000)
        var underWay: [Int: [AudioPacket]] = [:]
        var delays: [MediaInterval] = []
        for index in 0..<400 {
            let samples = index < 300 ? frame(index) : [Int16](repeating: 0, count: 960)
            let packet = AudioPacket(
                sequence: UInt16(index), timestamp: UInt32(index * 960), speaker: 5,
                payload: Array(encoder.encode(samples)))
            // In the third second, every other packet is 160 ms late.
            let isLate = (100..<150).contains(index) && index % 2 == 1
            underWay[isLate ? index + 8 : index, default: []].append(packet)
            let now = MediaInstant(microseconds: Int64(index) * 20_000)
            for packet in underWay.removeValue(forKey: index) ?? [] { incoming.put(packet, on: 1, arrival: now) }
            _ = incoming.play(now: now)
            delays.append(incoming.delays.first?.delay ?? .zero)
        }
        #expect(delays[99] <= .milliseconds(60))
        #expect(delays[149] >= .milliseconds(140))
        #expect(delays[299] >= .milliseconds(140))
        #expect(delays[399] <= .milliseconds(60))
    }

    /// Else a slot would take two turns in each mix.
    @Test func aSlotThatIsNamedTwiceIsPlayedOnce() throws {
        var incoming = IncomingAudio()
        try incoming.setSlots([2, 1, 1, 2])
        let heard = try play(&incoming, frames: 50)
        #expect(incoming.playout.concealed == 0 && incoming.playout.played >= 45)
        #expect(AudioLevel.value(of: Array(heard[9600...])) < 20)
        #expect(incoming.play(now: MediaInstant(microseconds: 1_000_000)).voices.count <= 1)
    }

    @Test func mutesAreBounded() {
        var incoming = IncomingAudio()
        for uid in 0..<UInt32(IncomingAudio.muteBound) { incoming.mute(true, uid: uid) }
        let further = UInt32(IncomingAudio.muteBound)
        incoming.mute(true, uid: further)
        #expect(incoming.isMuted(further - 1) && !incoming.isMuted(further))
        // Who is played again makes room.
        incoming.mute(false, uid: 0)
        incoming.mute(true, uid: further)
        #expect(!incoming.isMuted(0) && incoming.isMuted(further))
    }

    /// What was captured while the call had no time is not sent late: of more than 80 ms the last 20 are.
    @Test(arguments: [(4, 4), (5, 1), (8, 1)])
    func whatIsCapturedAndNotSentIsBounded(_ captured: Int, _ sent: Int) throws {
        let device = ScriptedCapture()
        let audio = try CallAudio(devices: MediaDevices(capture: device), bitRate: 32_000)
        #expect(audio.start().isEmpty)
        for index in 0..<captured { device.deliver(frame(index)) }
        #expect(audio.packets(on: Self.transport).count == sent)
        #expect(audio.packets(on: Self.transport).isEmpty)
        audio.stop()
    }

    /// A user's own volume is of what is sent: there is none while the user is muted.
    @Test func whoIsMutedHasNoVolume() throws {
        let (capture, playback) = (ScriptedCapture(), ScriptedPlayback())
        let audio = try CallAudio(devices: MediaDevices(capture: capture, playback: playback), bitRate: 32_000)
        #expect(audio.start().isEmpty)
        audio.measureVolumes(every: .milliseconds(100), smooth: 1, now: MediaInstant(microseconds: 0))
        var told: [[UInt32]?] = []
        for index in 1...20 {
            let now = MediaInstant(microseconds: Int64(index) * 20_000)
            capture.deliver(frame(index))
            _ = audio.packets(on: index <= 10 ? Self.transport : nil)
            playback.ask(960)
            audio.fill(now: now)
            if index % 10 == 0 { told.append(audio.volumes(now: now)?.speakers.map(\.uid)) }
        }
        audio.stop()
        #expect(told == [[SpeakingVolumes.local], []])
    }

    @Test func nonsenseIsConcealed() throws {
        let decoder = try OpusDecoder()
        for payload in [[UInt8]](arrayLiteral: [], [0xFF], [UInt8](repeating: 0xFF, count: 1275), [3, 0xFF, 0xFF]) {
            #expect(decoder.decode(payload).count == 960)
            #expect(decoder.recover(from: payload).count == 960)
        }
    }

    @Test func slotsOfAnotherAnswerGoOn() throws {
        var incoming = IncomingAudio()
        try incoming.setSlots([1, 2])
        _ = try play(&incoming, frames: 20)
        try incoming.setSlots([1, 3])
        #expect(incoming.has(1) && incoming.has(3) && !incoming.has(2))
        #expect(incoming.playout.played > 0)
    }
}

/// The byte of the level that a fresh judge gives a frame.
private enum VoiceActivityLevel {
    static func byte(of frame: [Int16]) -> UInt8 {
        var voice = VoiceActivity()
        return voice.judge(frame).byte
    }
}
