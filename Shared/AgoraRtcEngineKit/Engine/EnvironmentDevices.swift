internal import MediaClient
internal import NIOConcurrencyHelpers

extension MediaDevices {
    /// The devices for unchanged apps: `HELIOGRAPH_AUDIO_IN` names a WAV file that is said again and again,
    /// `HELIOGRAPH_AUDIO_OUT` one that is written; without them, silence.
    static func fromEnvironment(_ environment: [String: String]) -> MediaDevices {
        var devices = MediaDevices()
        if let path = environment["HELIOGRAPH_AUDIO_IN"] {
            devices.capture = LateCapture { try WAVCapture(path: path, loops: true) }
        }
        if let path = environment["HELIOGRAPH_AUDIO_OUT"] {
            devices.playback = LatePlayback { try WAVPlayback(path: path) }
        }
        return devices
    }
}

/// What is made by the first use and kept: a file is touched when a call begins, and what is wrong with it is told
/// then.
struct MadeOnce<Device: Sendable>: Sendable {
    private let made = NIOLockedValueBox<Device?>(nil)
    private let make: @Sendable () throws -> Device

    init(_ make: @escaping @Sendable () throws -> Device) { self.make = make }

    /// The device if it was made.
    var existing: Device? { made.withLockedValue { $0 } }

    /// The device, made if it was not.
    func get() throws -> Device {
        try made.withLockedValue { made in
            let device = try made ?? make()
            made = device
            return device
        }
    }
}

/// Talks from a file that is opened when a call begins.
final class LateCapture: AudioCapture {
    private let device: MadeOnce<any AudioCapture>
    private let report = NIOLockedValueBox<(@Sendable (String) -> Void)?>(nil)

    init(_ open: @escaping @Sendable () throws -> any AudioCapture) { device = MadeOnce(open) }

    func start(_ deliver: @escaping @Sendable (UnsafeBufferPointer<Int16>) -> Void) throws {
        let device = try device.get()
        if let report = report.withLockedValue({ $0 }) { device.reportFailures(to: report) }
        try device.start(deliver)
    }

    func stop() { device.existing?.stop() }

    func reportFailures(to report: @escaping @Sendable (String) -> Void) { self.report.withLockedValue { $0 = report } }
}

/// Writes into a file that is made when a call begins.
final class LatePlayback: AudioPlayback {
    private let device: MadeOnce<any AudioPlayback>
    private let report = NIOLockedValueBox<(@Sendable (String) -> Void)?>(nil)

    init(_ open: @escaping @Sendable () throws -> any AudioPlayback) { device = MadeOnce(open) }

    func start(_ request: @escaping @Sendable (UnsafeMutableBufferPointer<Int16>) -> Void) throws {
        let device = try device.get()
        if let report = report.withLockedValue({ $0 }) { device.reportFailures(to: report) }
        try device.start(request)
    }

    func stop() { device.existing?.stop() }

    func reportFailures(to report: @escaping @Sendable (String) -> Void) { self.report.withLockedValue { $0 = report } }

    func route(speaker: Bool) { device.existing?.route(speaker: speaker) }
}
