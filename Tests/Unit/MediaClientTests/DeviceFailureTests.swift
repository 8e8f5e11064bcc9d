import MediaEngineLogic
import TestKit
import Testing

@testable import MediaClient

/// Devices that fail during a call, which goes on.
@Suite struct DeviceFailureTests {
    private let capture = ScriptedCapture()
    private let playback = ScriptedPlayback()

    private var devices: MediaDevices { MediaDevices(capture: capture, playback: playback) }

    /// The app is told of these failures of devices, in any order of its other events.
    private func told(_ scene: DriverScene, _ expected: MediaEvent...) async throws {
        try await waitUntil("the app is told") {
            let failures = scene.events.filter { if case .deviceFailed = $0 { true } else { false } }
            return failures == expected ? nil : "it was told \(failures)"
        }
    }

    @Test func failuresAreToldOnceAndTheCallGoesOn() async throws {
        let scene = try await DriverScene(devices)
        try await scene.join()
        for _ in 0..<3 {
            capture.fail("unplugged")
            playback.fail("no such card")
        }
        try await told(scene, .deviceFailed(.capture, "unplugged"), .deviceFailed(.playback, "no such card"))
        capture.fail("again")
        // It has recovered: what it delivers is sent.
        let before = try await scene.on { driver, _ in
            #expect(driver.phase == .joined)
            return driver.audio?.outgoing.packets
        }
        capture.deliver([Int16](repeating: 1, count: 960))
        try await waitUntil("what it delivers is sent") {
            let now = try await scene.on { driver, _ in driver.audio?.outgoing.packets }
            return now == before.map { $0 + 1 } ? nil : "\(now ?? 0) packets"
        }
        try await told(scene, .deviceFailed(.capture, "unplugged"), .deviceFailed(.playback, "no such card"))
        try await scene.end()
    }

    /// Before a call is in, the app waits for nothing but that: the attempt goes on, and the failure is told later.
    @Test func whatFailsBeforeTheJoinIsToldAfterIt() async throws {
        let scene = try await DriverScene(devices)
        playback.fail("no such card")
        try await letPass(.milliseconds(100), "a call that is not in tells of no failure")
        #expect(scene.events == [])
        try await scene.join()
        try await told(scene, .deviceFailed(.playback, "no such card"))
        #expect(scene.events.first == .joined(uid: 7))
        try await scene.end()
    }

    /// A device that cannot be started is told at once.
    @Test func whatCannotBeStartedIsTold() async throws {
        let scene = try await DriverScene(MediaDevices(capture: BrokenCapture()))
        #expect(scene.events == [.deviceFailed(.capture, "a: it is broken")])
        try await scene.join()
        #expect(scene.events.contains(.joined(uid: 7)))
        try await scene.end()
    }

    /// A full disk is a failure of the device that writes.
    @Test func aFileThatCannotBeWrittenIsReportedOncePerStart() throws {
        let (files, pacer, reports) = (Files(), ScriptedPacer(), Texts())
        let file = try PCMFile(reading: files.write([1]))
        let device = PacedPlayback(PCMSink(file: file), pacer: pacer)
        device.reportFailures { reports.append($0) }
        device.start { $0.update(repeating: 1) }
        pacer.pass(3)
        #expect(reports.all == ["\(files.path("a")): Bad file descriptor"])
        // Another call is to know, too.
        device.stop()
        device.start { $0.update(repeating: 1) }
        pacer.pass(3)
        #expect(reports.all.count == 2)
        device.stop()
    }

    /// It takes its 20 ms as a loudspeaker does: what a slot holds would else never be played.
    @Test func silenceIsPlayedAtThePaceOfALoudspeaker() {
        let (pacer, asked) = (ScriptedPacer(), Texts())
        let device = SilentPlayback(pacer: pacer)
        device.start { asked.append("\($0.count)") }
        pacer.pass(3)
        device.stop()
        pacer.pass(3)
        #expect(asked.all == ["960", "960", "960"])
    }

    // MARK: - What the call finds by itself

    /// Looks at a call's audio every 10 ms for that long, in which the devices do as `step` says; the reasons told.
    private func watch(_ audio: CallAudio, seconds: Int, isMuted: Bool = false, _ step: (Int) -> Void) -> [String] {
        let transport = TransportAnswer(
            host: "192.0.2.1", port: 1, ufrag: "u", password: "w", publicKey: "", ssrc: 1, slots: [], payloadType: 111)
        var told: [String] = []
        for index in 0..<seconds * 100 {
            step(index)
            let now = MediaInstant(microseconds: Int64(index) * 10_000)
            _ = audio.packets(on: isMuted ? nil : transport)
            audio.fill(now: now)
            told += audio.warnings(now: now).map { "\($0.code) \($0.reason)" }
        }
        return told
    }

    private func started() throws -> CallAudio {
        let audio = try CallAudio(devices: devices, bitRate: 6000)
        #expect(audio.start().isEmpty)
        return audio
    }

    @Test func devicesThatStallAreTold() throws {
        let sound = [Int16](repeating: 1, count: 480)
        let told = watch(try started(), seconds: 5) { index in
            if index < 200 || index >= 400 { capture.deliver(sound) }
            if index < 300 || index >= 400 { playback.ask(480) }
        }
        #expect(told == ["1016 capture_late", "1014 playback_late"])
    }

    @Test func devicesWithAWrongClockAreTold() throws {
        let sound = [Int16](repeating: 1, count: 510)
        let told = watch(try started(), seconds: 11) { _ in
            capture.deliver(sound)
            playback.ask(450)
        }
        #expect(told == ["1021 capture_off_pace", "1020 playback_off_pace"])
    }

    @Test(arguments: [(false, ["1019 capture_silent"]), (true, [])])
    func aSilentMicrophoneIsTold(_ isMuted: Bool, _ expected: [String]) throws {
        let told = watch(try started(), seconds: 21, isMuted: isMuted) { _ in
            capture.deliver([Int16](repeating: 0, count: 480))
            playback.ask(480)
        }
        #expect(told == expected)
    }

    /// Who only listens or talks is told nothing of the devices that are not there.
    @Test func silentDevicesAreInOrder() throws {
        let audio = try CallAudio(devices: MediaDevices(playback: playback), bitRate: 6000)
        #expect(audio.start().isEmpty)
        #expect(watch(audio, seconds: 21) { _ in playback.ask(480) } == [])
    }
}

/// A capture device that cannot be started.
private final class BrokenCapture: AudioCapture {
    func start(_ deliver: @escaping @Sendable (UnsafeBufferPointer<Int16>) -> Void) throws {
        throw AudioFileError(path: "a", message: "it is broken")
    }

    func stop() {}
}
