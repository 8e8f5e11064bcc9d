internal import MediaEngineLogic

/// The audio of a call between its devices and its packets. Used on the call's event loop; the devices' threads only
/// reach the rings.
final class CallAudio {
    /// Samples that wait in one direction at most: 170 ms.
    private static let ringCapacity = 8192
    private static let frame = Int(AudioPacket.samples)
    /// When more has been captured than this, it is left out down to one frame: what is old is not worth sending.
    private static let greatestBacklog = 4 * frame
    private static let greatestGain = 4.0

    private let devices: MediaDevices
    private let captured = AudioRing(capacity: ringCapacity)
    private let played = AudioRing(capacity: ringCapacity)
    private var buffer = [Int16](repeating: 0, count: frame)
    private(set) var outgoing: OutgoingAudio
    var incoming = IncomingAudio()
    private var captureGain = 1.0
    private var lead = PlaybackLead()
    private var volumes: (measure: SpeakingVolumes, interval: MediaInterval, due: MediaInstant)?
    /// The last frame that was sent, for the volumes.
    private var said: [Int16]?

    /// - Throws: ``MediaError/codecFailed``.
    init(devices: MediaDevices, bitRate: Int) throws(MediaError) {
        self.devices = devices
        outgoing = try OutgoingAudio(bitRate: bitRate)
    }

    /// Starts both devices; the one that cannot be started is told with what it says.
    func start() -> [(device: MediaDevice, message: String)] {
        var failures: [(MediaDevice, String)] = []
        do {
            try devices.capture.start { [captured] in _ = captured.write($0) }
        } catch {
            failures.append((.capture, "\(error)"))
        }
        do {
            try devices.playback.start { [played] buffer in
                let count = played.read(into: buffer)
                buffer[count...].update(repeating: 0)
            }
        } catch {
            failures.append((.playback, "\(error)"))
        }
        return failures
    }

    func stop() {
        devices.capture.stop()
        devices.playback.stop()
    }

    /// The samples that the playback device asked for and did not get.
    var missed: Int { played.demand.missed }

    func setGain(capture: Double?, playback: Double?) {
        if let capture { captureGain = min(max(capture, 0), Self.greatestGain) }
        if let playback { incoming.gain = min(max(playback, 0), Self.greatestGain) }
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
                said = nil
                continue
            }
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
            let own = said.map { [(uid: SpeakingVolumes.local, samples: $0)] } ?? []
            volumes?.measure.hear(own + mix.voices)
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
