import Foundation
import MediaClient
import NIOConcurrencyHelpers
import Testing

@testable import AgoraRtcEngineKit

@Suite struct EnvironmentDevicesTests {
    @Test func withoutSettingsThereIsSilence() {
        let devices = MediaDevices.fromEnvironment([:])
        #expect(devices.capture is SilentCapture)
        #expect(devices.playback is SilentPlayback)
    }

    @Test func filesAreTouchedWhenACallBegins() throws {
        let path = NSTemporaryDirectory() + "engine-\(UInt64.random(in: 0 ... .max)).wav"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let devices = MediaDevices.fromEnvironment(["HELIOGRAPH_AUDIO_IN": path, "HELIOGRAPH_AUDIO_OUT": path])
        devices.playback.stop()
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(throws: AudioFileError.self) { try devices.capture.start { _ in } }
        try devices.playback.start { $0.update(repeating: 0) }
        devices.playback.stop()
        #expect(FileManager.default.fileExists(atPath: path))
        try Self.wav.write(to: URL(fileURLWithPath: path))
        try devices.capture.start { _ in }
        devices.capture.stop()
    }

    /// What fails once it runs is reported through the device that is opened late.
    @Test func lateDevicesReportFailures() throws {
        let (capture, playback, reports) = (FailingCapture(), FailingPlayback(), NIOLockedValueBox<[String]>([]))
        let late = (LateCapture { capture }, LatePlayback { playback })
        late.0.reportFailures { text in reports.withLockedValue { $0.append("capture \(text)") } }
        late.1.reportFailures { text in reports.withLockedValue { $0.append("playback \(text)") } }
        try late.0.start { _ in }
        try late.1.start { _ in }
        capture.report.withLockedValue { $0 }?("x")
        playback.report.withLockedValue { $0 }?("y")
        #expect(reports.withLockedValue { $0 } == ["capture x", "playback y"])
    }

    /// Two samples at 48 kHz, mono.
    private static let wav =
        Data("RIFF".utf8) + Data([40, 0, 0, 0]) + Data("WAVEfmt ".utf8)
        + Data([16, 0, 0, 0, 1, 0, 1, 0, 0x80, 0xBB, 0, 0, 0, 0x77, 1, 0, 2, 0, 16, 0]) + Data("data".utf8)
        + Data([4, 0, 0, 0, 1, 0, 2, 0])
}

private final class FailingCapture: AudioCapture {
    let report = NIOLockedValueBox<(@Sendable (String) -> Void)?>(nil)

    func start(_ deliver: @escaping @Sendable (UnsafeBufferPointer<Int16>) -> Void) {}
    func stop() {}
    func reportFailures(to report: @escaping @Sendable (String) -> Void) { self.report.withLockedValue { $0 = report } }
}

private final class FailingPlayback: AudioPlayback {
    let report = NIOLockedValueBox<(@Sendable (String) -> Void)?>(nil)

    func start(_ request: @escaping @Sendable (UnsafeMutableBufferPointer<Int16>) -> Void) {}
    func stop() {}
    func reportFailures(to report: @escaping @Sendable (String) -> Void) { self.report.withLockedValue { $0 = report } }
}
