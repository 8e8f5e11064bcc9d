import Foundation
import MediaClient
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

    /// Two samples at 48 kHz, mono.
    private static let wav =
        Data("RIFF".utf8) + Data([40, 0, 0, 0]) + Data("WAVEfmt ".utf8)
        + Data([16, 0, 0, 0, 1, 0, 1, 0, 0x80, 0xBB, 0, 0, 0, 0x77, 1, 0, 2, 0, 16, 0]) + Data("data".utf8)
        + Data([4, 0, 0, 0, 1, 0, 2, 0])
}
