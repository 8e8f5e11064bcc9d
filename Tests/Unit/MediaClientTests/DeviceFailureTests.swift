import MediaEngineLogic
import Testing

@testable import MediaClient

/// Devices that fail during a call, which goes on.
@Suite struct DeviceFailureTests {
    private let capture = ScriptedCapture()
    private let playback = ScriptedPlayback()

    private var devices: MediaDevices { MediaDevices(capture: capture, playback: playback) }

    @Test func failuresAreToldOnceAndTheCallGoesOn() async throws {
        let (scene, capture, playback) = (try await DriverScene(devices), capture, playback)
        try await scene.join()
        let failures = [
            MediaEvent.deviceFailed(.capture, DeviceFailure(.running, "unplugged")),
            .deviceFailed(.playback, DeviceFailure(.running, "no such card")),
        ]
        // A busy machine may take longer than it takes until the first report.
        let told = { scene.events.filter { if case .deviceFailed = $0 { true } else { false } } }
        try await scene.on { driver, _ in
            for further in ["unplugged", "gone", "gone for good"] {
                capture.fail(further)
                playback.fail("no such card")
            }
            driver.advance()
        }
        #expect(told() == failures)
        // It has recovered: what it delivers is sent.
        let sent = try await scene.on { driver, _ in
            capture.fail("again")
            let before = driver.audio?.outgoing.packets
            capture.deliver([Int16](repeating: 1, count: 960))
            driver.advance()
            return [before.map { $0 + 1 }, driver.audio?.outgoing.packets]
        }
        #expect(sent[0] != nil && sent[0] == sent[1])
        #expect(told() == failures)
        try await scene.end()
    }

    /// Before a call is in, the app waits for nothing but that: the attempt goes on, and the failure is told later.
    @Test func whatFailsBeforeTheJoinIsToldAfterIt() async throws {
        let scene = try await DriverScene(devices)
        let playback = playback
        try await scene.on { driver, control in
            playback.fail("no such card")
            driver.advance()
            #expect(scene.events == [])
            try control.joined()
            driver.receive(.sign(size: 1))
            driver.advance()
        }
        #expect(scene.events.first == .joined(uid: 7))
        #expect(scene.events.contains(.deviceFailed(.playback, DeviceFailure(.running, "no such card"))))
        try await scene.end()
    }

    private static let broken: [(any Error, DeviceFailure)] = [
        (AudioFileError(path: "a", message: "no"), DeviceFailure(.preparation, "a: no")),
        (AudioFileError(path: "a", message: "no", cause: .sampleRate), DeviceFailure(.sampleRate, "a: no")),
        (DeviceFailure(.permission, "ask the user"), DeviceFailure(.permission, "ask the user")),
        (CancellationError(), DeviceFailure(.start, "CancellationError()")),
    ]

    /// A device that cannot be started is told at once, with its cause where it names one.
    @Test(arguments: broken.indices) func whatCannotBeStartedIsTold(_ place: Int) async throws {
        let (error, failure) = Self.broken[place]
        let scene = try await DriverScene(MediaDevices(capture: BrokenCapture(error: error)))
        try await scene.on { _, _ in }
        #expect(scene.events == [.deviceFailed(.capture, failure)])
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

    /// A file that cannot be read any more is a failure of the device that reads, and not the file's end.
    @Test(arguments: [false, true]) func aFileThatCannotBeReadIsReportedOncePerStart(_ isWAV: Bool) throws {
        let (files, pacer, reports, samples) = (Files(), ScriptedPacer(), Texts(), Samples())
        let sound = [Int16](repeating: 7, count: 4 * 960)
        let path = try files.write(isWAV ? WAV.file(WAV.format(), WAV.data(sound)) : PCMSamples.bytes(sound))
        let device: any AudioCapture =
            isWAV ? try WAVCapture(path: path, loops: false, pacer: pacer) : try PCMCapture(path: path, pacer: pacer)
        device.reportFailures { reports.append($0) }
        try device.start { samples.append($0) }
        pacer.pass(2)
        #expect(reports.all == [])
        try files.breakReading()
        pacer.pass(2)
        #expect(reports.all == ["\(path): Bad file descriptor"])
        device.stop()
        try device.start { samples.append($0) }
        pacer.pass(2)
        #expect(reports.all.count == 2)
        #expect(samples.all == Array(sound[..<1920]) + [Int16](repeating: 0, count: 4 * 960))
        device.stop()
    }

    /// Why a WAV file cannot be opened is told as it is: not as a wrong format.
    @Test func aWAVFileThatCannotBeReadIsNoWrongFormat() throws {
        let files = Files()
        let file = try PCMFile(reading: files.write(WAV.file(WAV.format(), WAV.data([1]))))
        try files.breakReading()
        #expect(throws: AudioFileError(path: files.path("a"), message: "Bad file descriptor")) {
            try WAVSource(file: file, loops: false)
        }
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
            told += audio.newFailures().map { "\($0.device) \($0.failure.cause)" }
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

    /// What stands still for 10 s has failed, and again when it has gone on meanwhile.
    @Test func devicesThatStandStillHaveFailed() throws {
        let sound = [Int16](repeating: 1, count: 480)
        let told = watch(try started(), seconds: 26) { index in
            if index < 100 || (1200..<1300).contains(index) { capture.deliver(sound) }
            if index < 200 || index >= 1250 { playback.ask(480) }
        }
        #expect(
            told == [
                "1016 capture_late", "1014 playback_late", "capture standstill", "playback standstill",
                "1016 capture_late", "capture standstill",
            ])
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
    private let error: any Error

    init(error: any Error) { self.error = error }

    func start(_ deliver: @escaping @Sendable (UnsafeBufferPointer<Int16>) -> Void) throws { throw error }

    func stop() {}
}
