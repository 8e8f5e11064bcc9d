internal import MediaEngineLogic
internal import NIOConcurrencyHelpers

/// The audio of a call between its devices and its packets. Used on the call's event loop; the devices' threads only
/// reach the rings.
final class CallAudio {
    /// Samples that wait in one direction at most: 170 ms.
    private static let ringCapacity = 8192
    private static let frame = Int(AudioPacket.samples)
    /// When more has been captured than this, it is left out down to one frame: what is old is not worth sending.
    private static let greatestBacklog = 4 * frame

    private let devices: MediaDevices
    private let captured = AudioRing(capacity: ringCapacity)
    private let played = AudioRing(capacity: ringCapacity)
    private var buffer = [Int16](repeating: 0, count: frame)
    private(set) var outgoing: OutgoingAudio
    var incoming = IncomingAudio()
    var listeners = TrackListeners()
    private var captureGain = 1.0
    private var lead = PlaybackLead()
    private var volumes: (measure: SpeakingVolumes, interval: MediaInterval, due: MediaInstant)?
    /// The last frame that was sent, for the volumes.
    private var said: [Int16]?
    /// What the devices say of themselves, by any thread: the first failure of each.
    private let failed = NIOLockedValueBox<[MediaDevice: String]>([:])
    private var toldFailed: Set<MediaDevice> = []
    /// The devices that stand still, which the app is to be told.
    private var standing: [MediaDevice] = []
    private var capturePace = DevicePace()
    private var playbackPace = DevicePace()
    private var silence = CaptureSilence()
    /// Whether the app is to be told of zeroes.
    private var isSilent = false

    /// - Throws: ``MediaError/codecFailed``.
    init(devices: MediaDevices, bitRate: Int) throws(MediaError) {
        self.devices = devices
        outgoing = try OutgoingAudio(bitRate: bitRate)
    }

    /// Starts both devices; the one that cannot be started is told with what it says.
    func start() -> [(device: MediaDevice, failure: DeviceFailure)] {
        var failures: [(MediaDevice, DeviceFailure)] = []
        devices.capture.reportFailures { [failed] in Self.note($0, of: .capture, in: failed) }
        devices.playback.reportFailures { [failed] in Self.note($0, of: .playback, in: failed) }
        do {
            try devices.capture.start { [captured] in _ = captured.write($0) }
        } catch {
            failures.append((.capture, DeviceFailure(starting: error)))
        }
        do {
            try devices.playback.start { [played] buffer in
                let count = played.read(into: buffer)
                buffer[count...].update(repeating: 0)
            }
        } catch {
            failures.append((.playback, DeviceFailure(starting: error)))
        }
        return failures
    }

    func stop() {
        devices.capture.stop()
        devices.playback.stop()
        listeners.end()
    }

    private static func note(
        _ text: String, of device: MediaDevice, in failed: NIOLockedValueBox<[MediaDevice: String]>
    ) {
        failed.withLockedValue { if $0[device] == nil { $0[device] = text } }
    }

    /// The devices that have failed while they run: those that say so, each once, and those that were found to stand
    /// still.
    func newFailures() -> [(device: MediaDevice, failure: DeviceFailure)] {
        let all = failed.withLockedValue { $0 }
        // Nearly always.
        guard all.count > toldFailed.count || !standing.isEmpty else { return [] }
        var failures: [(MediaDevice, DeviceFailure)] = []
        for device in [MediaDevice.capture, .playback] {
            if let message = all[device], toldFailed.insert(device).inserted {
                failures.append((device, DeviceFailure(.running, message)))
            }
            if standing.contains(device) {
                failures.append((device, DeviceFailure(.standstill, "it has done nothing for 10 s")))
            }
        }
        standing = []
        return failures
    }

    /// What the devices do wrong, as far as it is new. Those that stand still are among ``newFailures()`` then.
    func warnings(now: MediaInstant) -> [MediaError] {
        var warnings: [MediaError] = []
        switch capturePace.look(total: captured.offered, now: now) {
        case .late: warnings.append(.captureLate)
        case .standstill: standing.append(.capture)
        case .offPace: warnings.append(.captureOffPace)
        case nil: break
        }
        switch playbackPace.look(total: played.demand.asked, now: now) {
        case .late: warnings.append(.playbackLate)
        case .standstill: standing.append(.playback)
        case .offPace: warnings.append(.playbackOffPace)
        case nil: break
        }
        if isSilent { warnings.append(.captureSilent) }
        isSilent = false
        return warnings
    }

    /// The samples that the playback device asked for and did not get.
    var missed: Int { played.demand.missed }

    func setGain(capture: Double?, playback: Double?) {
        if let capture { captureGain = AudioMixer.bounded(capture) }
        if let playback { incoming.gain = AudioMixer.bounded(playback) }
    }

    // MARK: - What is said

    /// The packets of what was captured since the last call.
    /// - Parameter transport: nil while nothing is to be sent.
    func packets(on transport: TransportAnswer?) -> [OutgoingAudio.Packet] {
        if captured.count > Self.greatestBacklog {
            while captured.count >= 2 * Self.frame { _ = nextFrame() }
        }
        var packets: [OutgoingAudio.Packet] = []
        while captured.count >= Self.frame {
            let frame = nextFrame()
            guard let transport else {
                outgoing.skip()
                silence.mute()
                said = nil
                continue
            }
            if silence.hear(buffer) { isSilent = true }
            said = frame
            if let packet = outgoing.packet(of: frame, on: transport) { packets.append(packet) }
        }
        return packets
    }

    private func nextFrame() -> [Int16] {
        _ = buffer.withUnsafeMutableBufferPointer { captured.read(into: $0) }
        guard captureGain != 1 else { return buffer }
        return buffer.map { Int16(clamping: Int((Double($0) * captureGain).rounded())) }
    }

    // MARK: - What is heard

    /// Keeps as much ready for the playback device as it will ask for.
    func fill(now: MediaInstant) {
        let demand = played.demand
        let target = lead.target(largest: demand.largest, missed: demand.missed, now: now)
        while played.count < target {
            let mix = incoming.play(now: now)
            _ = mix.samples.withUnsafeBufferPointer { played.write($0) }
            listeners.hear(mix)
            let own = said.map { [(uid: SpeakingVolumes.local, samples: $0)] } ?? []
            volumes?.measure.hear(own + mix.voices.lazy.filter { !$0.isMuted }.map { ($0.uid, $0.samples) })
        }
    }

    /// Measures volumes from now on; nil ends it.
    func measureVolumes(every interval: MediaInterval?, smooth: Int, now: MediaInstant) {
        volumes = interval.map { (SpeakingVolumes(smooth: smooth), $0, now + $0) }
    }

    /// The volumes, when it is time for them.
    func volumes(now: MediaInstant) -> MediaVolumes? {
        guard let due = volumes?.due, let interval = volumes?.interval, now >= due else { return nil }
        volumes?.due = max(due + interval, now)
        guard let report = volumes?.measure.report() else { return nil }
        return MediaVolumes(
            speakers: report.speakers.map { MediaVolumes.Speaker(uid: $0.uid, volume: $0.volume) }, total: report.total)
    }
}
