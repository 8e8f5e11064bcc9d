import MediaEngineLogic
import SignalingClient
import Testing

@testable import MediaClient

@Suite struct TrackTests {
    private let playback = ScriptedPlayback()

    private func started() throws -> CallAudio {
        let audio = try CallAudio(devices: MediaDevices(playback: playback), bitRate: 32_000)
        #expect(audio.start().isEmpty)
        try audio.incoming.setSlots([1, 2])
        return audio
    }

    private func listen(to uid: UInt32, of audio: CallAudio) -> AsyncStream<RemoteFrame> {
        let (frames, continuation) = AsyncStream.makeStream(
            of: RemoteFrame.self, bufferingPolicy: .bufferingNewest(TrackListeners.frameBound))
        audio.listeners.add(TrackListener(uid: uid, continuation))
        return frames
    }

    /// User 5 says something in slot 1 and user 6 nothing in slot 2, for so many frames.
    private func play(_ audio: CallAudio, frames: Int) throws {
        let encoder = try OpusEncoder(bitRate: 32_000)
        let silence = try OpusEncoder(bitRate: 32_000)
        for index in 0..<frames {
            let now = MediaInstant(microseconds: Int64(index) * 20_000)
            let sound = (0..<960).map { Int16(($0 + index * 960) % 100 * 200 - 10_000) }
            let quiet = [Int16](repeating: 0, count: 960)
            for (ssrc, speaker, payload) in [
                (1, 5, Array(encoder.encode(sound))), (2, 6, Array(silence.encode(quiet))),
            ] as [(UInt32, UInt32, [UInt8])] {
                let packet = AudioPacket(
                    sequence: UInt16(index), timestamp: UInt32(index * 960), speaker: speaker, payload: payload)
                audio.incoming.put(packet, on: ssrc, arrival: now)
            }
            playback.ask(960)
            audio.fill(now: now)
        }
    }

    private func collected(_ frames: AsyncStream<RemoteFrame>) async -> [RemoteFrame] {
        var all: [RemoteFrame] = []
        for await frame in frames { all.append(frame) }
        return all
    }

    /// Level in -dBov: 0 is loud, 127 silence.
    private func level(_ frames: [RemoteFrame]) -> Int { AudioLevel.value(of: frames.flatMap(\.samples)) }

    @Test func aTrackHasOneUserAlone() async throws {
        let audio = try started()
        let (loud, quiet, nobody) = (listen(to: 5, of: audio), listen(to: 6, of: audio), listen(to: 7, of: audio))
        try play(audio, frames: 40)
        audio.stop()
        let heard = await collected(loud)
        #expect(heard.count >= 35 && heard.allSatisfy { $0.samples.count == 960 })
        #expect(zip(heard, heard.dropFirst()).allSatisfy { $1.position == $0.position + 960 })
        #expect(level(Array(heard.suffix(20))) < 20)
        let silent = await collected(quiet)
        #expect(silent.count >= 35 && level(Array(silent.suffix(20))) > 60)
        #expect(await collected(nobody) == [])
    }

    /// Who is muted, or made quieter, has all of its samples: both concern what is played. Of the volumes, a mute takes
    /// its user, and a gain changes nothing.
    @Test(arguments: [true, false]) func mutesAndGainsAreOfTheMixAlone(_ isMute: Bool) async throws {
        let audio = try started()
        let frames = listen(to: 5, of: audio)
        if isMute { audio.incoming.mute(true, uid: 5) } else { audio.incoming.setGain(0, uid: 5) }
        audio.measureVolumes(every: .milliseconds(100), smooth: 1, now: MediaInstant(microseconds: 0))
        try play(audio, frames: 30)
        let mix = audio.incoming.play(now: MediaInstant(microseconds: 600_000))
        #expect(AudioLevel.value(of: mix.samples) > 60)
        let volumes = audio.volumes(now: MediaInstant(microseconds: 600_000))
        #expect(volumes?.speakers.map(\.uid) == (isMute ? [] : [5]))
        audio.stop()
        let heard = await collected(frames)
        #expect(level(Array(heard.suffix(20))) < 20)
    }

    /// A sequence from which nobody takes keeps the last second.
    @Test func framesThatWaitAreBounded() async throws {
        let handle = handle()
        let frames = RemoteTrack(uid: 5, handle: handle).frames()
        let voice = IncomingAudio.Voice(uid: 5, samples: [Int16](repeating: 7, count: 960), isMuted: false)
        handle.run { driver in
            for _ in 0..<80 { driver.audio?.listeners.hear(IncomingAudio.Mix(samples: voice.samples, voices: [voice])) }
        }
        // None is taken before all have come.
        #expect(await listeners(of: handle) == 1)
        handle.leave()
        let heard = await collected(frames)
        #expect(heard.count == TrackListeners.frameBound)
        #expect(heard.first.map { $0.position >= 30 * 960 } == true)
    }

    @Test func listenersAreBoundedAndMakeRoom() async throws {
        let audio = try started()
        var listeners: [TrackListener] = []
        for _ in 0..<TrackListeners.bound {
            let (_, continuation) = AsyncStream.makeStream(of: RemoteFrame.self)
            let listener = TrackListener(uid: 5, continuation)
            listeners.append(listener)
            audio.listeners.add(listener)
        }
        let further = listen(to: 5, of: audio)
        #expect(audio.listeners.count == TrackListeners.bound)
        audio.listeners.remove(listeners[0])
        let frames = listen(to: 5, of: audio)
        try play(audio, frames: 30)
        audio.stop()
        #expect(await collected(further) == [])
        #expect(await collected(frames).count >= 20)
    }

    /// A hundredth of the samples is 40 dB less.
    @Test func aGainIsOfOneUser() throws {
        var levels: [Int] = []
        for gains in [[:], [5: 0.01], [6: 0.01]] as [[UInt32: Double]] {
            let audio = try started()
            for (uid, gain) in gains { audio.incoming.setGain(gain, uid: uid) }
            try play(audio, frames: 30)
            levels.append(AudioLevel.value(of: audio.incoming.play(now: MediaInstant(microseconds: 600_000)).samples))
        }
        #expect(levels[0] < 20 && abs(levels[1] - levels[0] - 40) <= 2 && abs(levels[2] - levels[0]) <= 2)
    }

    @Test func gainsAreBounded() {
        #expect(AudioMixer.bounded(.nan) == 0 && AudioMixer.bounded(-1) == 0)
        #expect(AudioMixer.bounded(.infinity) == 4 && AudioMixer.bounded(0.5) == 0.5)
        var incoming = IncomingAudio()
        for uid in 0..<UInt32(IncomingAudio.muteBound) { incoming.setGain(9, uid: uid) }
        let further = UInt32(IncomingAudio.muteBound)
        incoming.setGain(0.5, uid: further)
        #expect(incoming.gain(of: further - 1) == 4 && incoming.gain(of: further) == 1)
        // Known ones change, and one that is unchanged again makes room.
        incoming.setGain(2, uid: 1)
        incoming.setGain(1, uid: 0)
        incoming.setGain(0.5, uid: further)
        #expect(incoming.gain(of: 0) == 1 && incoming.gain(of: 1) == 2 && incoming.gain(of: further) == 0.5)
    }

    /// Who changes slots is in two of them for a moment: the listener has one frame of each 20 ms all the same.
    @Test func aUserInTwoSlotsIsHeardOnce() async throws {
        let audio = try started()
        let frames = listen(to: 5, of: audio)
        let voice = IncomingAudio.Voice(uid: 5, samples: [Int16](repeating: 7, count: 960), isMuted: false)
        for _ in 0..<3 { audio.listeners.hear(IncomingAudio.Mix(samples: voice.samples, voices: [voice, voice])) }
        audio.stop()
        #expect(await collected(frames).map(\.position) == [0, 960, 1920])
    }

    private func handle() -> MediaHandle {
        let handle = MediaHandle(
            configuration: MediaConfiguration(
                app: "app", channel: "room", source: .addresses([]), devices: MediaDevices(playback: playback))
        ) { _ in }
        handle.start()
        return handle
    }

    private func listeners(of handle: MediaHandle) async -> Int? {
        await withCheckedContinuation { answer in handle.run { answer.resume(returning: $0.audio?.listeners.count) } }
    }

    /// Whether its task is cancelled or it is thrown away, a sequence that nobody takes from makes room.
    @Test func aSequenceEndsWithItsConsumer() async {
        let handle = handle()
        let track = RemoteTrack(uid: 5, handle: handle)
        let frames = track.frames()
        var kept: AsyncStream<RemoteFrame>? = track.frames()
        #expect(await listeners(of: handle) == 2)
        let task = Task { await collected(frames) }
        task.cancel()
        #expect(await task.value == [])
        withExtendedLifetime(kept) {}
        #expect(await listeners(of: handle) == 1)
        kept = nil
        #expect(await listeners(of: handle) == 0)
        handle.leave()
    }

    /// A track of a call that is over is at its end.
    @Test func afterTheEndThereIsNothing() async throws {
        let handle = handle()
        let before = RemoteTrack(uid: 5, handle: handle).frames()
        handle.leave()
        #expect(await collected(before) == [])
        #expect(await collected(RemoteTrack(uid: 5, handle: handle).frames()) == [])
    }
}
