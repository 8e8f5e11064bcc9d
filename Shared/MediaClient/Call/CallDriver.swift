internal import MediaEngineLogic
internal import NIOCore
internal import SignalingProtocol

/// One media call: its connection to a gateway, its path to a media node, its audio. Bound to its event loop, which
/// drives it every 10 ms; not Sendable, so that the compiler keeps it there.
final class CallDriver {
    /// How often the call looks at its devices and clocks.
    static let step = TimeAmount.milliseconds(10)
    /// How long leaving waits for the gateway.
    static let leaveTime: MediaInterval = .seconds(3)
    /// How long a path may be silent at first until the app is warned.
    static let pathTime: MediaInterval = .seconds(2)
    /// Before a refused mute is told again.
    static let muteRetry: MediaInterval = .seconds(1)

    /// Makes a connection to a gateway, whose notices go to the function given.
    typealias ControlFactory =
        (MediaConfiguration, any EventLoop, @escaping (ControlConnection.Notice) -> Void) -> any CallControl

    /// Real connections.
    static let controlFactory:
        @Sendable (
            MediaConfiguration, any EventLoop, @escaping (ControlConnection.Notice) -> Void
        ) -> any CallControl = {
            ControlConnection(app: $0.app, source: $0.source, tls: $0.tls, eventLoop: $1, onNotice: $2)
        }

    enum Phase: Equatable {
        case idle
        /// The first packet has not come yet.
        case joining
        /// The app was told that it is in.
        case joined
        /// The key has ended, and with it the participant; another key is waited for.
        case awaitingKey
        case leaving(until: MediaInstant)
        case ended
    }

    var configuration: MediaConfiguration
    let eventLoop: any EventLoop
    var phase = Phase.idle
    var reconnect = EngineReconnect<MediaNodeID>()
    var participation: Participation?
    var roster: Roster?
    var path: MediaPath?
    var audio: CallAudio?
    var statistics: CallStatistics?
    /// The last report.
    var latest = MediaStatistics()
    var flags: MediaFlags
    /// The number of the latest attempt to join or restart: answers to earlier ones count for nothing.
    var attempt = 0
    /// What is to be asked for as soon as there is a gateway.
    var wanted: EngineReconnect<MediaNodeID>.Action?
    var isAskingRoster = false
    /// When the flags may be told again; nil while an answer is awaited.
    var nextMute: MediaInstant? = MediaInstant(microseconds: 0)
    var nextReport = MediaInstant(microseconds: 0)
    var pathSince: MediaInstant?
    /// Who spoke last in each slot of the path.
    var slotSpeakers: [UInt32: UInt32] = [:]
    /// What the others lost on their way to the node, and how long it took.
    var uplinks: [UInt32: ChannelNotice.Uplink] = [:]
    private let connect: ControlFactory
    private var sink: ((MediaEvent) -> Void)?
    private var control: (any CallControl)?
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - connect: makes the connection to a gateway; tests have one of their own.
    ///   - sink: receives the events; nothing after the last one.
    init(
        configuration: MediaConfiguration, eventLoop: any EventLoop, connect: @escaping ControlFactory = controlFactory,
        sink: @escaping (MediaEvent) -> Void
    ) {
        self.configuration = configuration
        self.eventLoop = eventLoop
        self.connect = connect
        self.sink = sink
        flags = configuration.isMuted ? .audioMuted : []
    }

    /// Begins with the first join.
    /// - Parameter isTimed: whether the call takes its steps by itself; its timer then keeps it alive.
    func start(isTimed: Bool = true) {
        guard phase == .idle else { return }
        phase = .joining
        do {
            audio = try CallAudio(devices: configuration.devices, bitRate: configuration.bitRate)
        } catch {
            return end(error)
        }
        for (device, failure) in audio?.start() ?? [] { tell(.deviceFailed(device, failure)) }
        let control = connect(configuration, eventLoop) { [weak self] in self?.handle($0) }
        self.control = control
        if isTimed { schedule(.now() + Self.step) }
        control.start()
        perform(reconnect.join(now: .now))
    }

    func tell(_ event: MediaEvent) { sink?(event) }

    /// Ends the call for that reason, nil when the user has left.
    func end(_ error: MediaError?) {
        guard phase != .ended else { return }
        phase = .ended
        takeReport(now: .now, isLast: true)
        reconnect.leave()
        timer?.cancel()
        audio?.stop()
        path?.close()
        control?.stop()
        let last = sink
        sink = nil
        last?(.ended(error, latest))
    }

    var isOnline: Bool { control?.isOnline ?? false }

    func call(_ call: ControlCall, _ completion: @escaping ControlConnection.Completion) {
        control?.call(call, completion)
    }

    // MARK: - Time

    /// By deadlines, so that a step that comes late does not delay those after it; those that were missed are left out.
    private func schedule(_ due: NIODeadline) {
        timer = eventLoop.assumeIsolated().scheduleTask(deadline: due) { [self] in
            advance()
            guard phase != .ended else { return }
            schedule(max(due + Self.step, .now()))
        }
    }

    /// Takes a step: what is due by now.
    func advance() {
        let now = MediaInstant.now
        if case .leaving(let until) = phase, now >= until { return end(nil) }
        control?.advance()
        perform(reconnect.advance(now: now, chance: Double.random(in: 0..<1)))
        guard phase != .ended else { return }
        count(sent: path?.advance(now: now) ?? 0)
        talk(now: now)
        audio?.fill(now: now)
        watchDevices(now: now)
        report(now: now)
        tellFlags(now: now)
    }

    private func talk(now: MediaInstant) {
        let isSending = phase == .joined && !flags.contains(.audioMuted)
        for packet in audio?.packets(on: isSending ? path?.transport : nil) ?? [] {
            count(sent: path?.send(packet) ?? 0)
        }
    }

    /// Tells of the devices as soon as the app knows that it is in; the call goes on whatever they do.
    private func watchDevices(now: MediaInstant) {
        guard phase == .joined || phase == .awaitingKey, let audio else { return }
        for warning in audio.warnings(now: now) { tell(.warning(warning)) }
        for (device, failure) in audio.newFailures() { tell(.deviceFailed(device, failure)) }
    }

    private func report(now: MediaInstant) {
        if let volumes = audio?.volumes(now: now), phase == .joined { tell(.volumes(volumes)) }
        if let path, let audio, now >= nextReport {
            nextReport = now + PathReports.interval
            audio.outgoing.expect(loss: path.reports.lostPercent)
            count(sent: path.report(of: audio.outgoing, now: now))
        }
        if takeReport(now: now, isLast: false) { tell(.statistics(latest)) }
        if let since = pathSince, path?.hasBegun == false, now - since >= Self.pathTime {
            pathSince = nil
            tell(.warning(.noPath))
        }
    }

    func count(sent bytes: Int) {
        if bytes > 0 { statistics?.send(bytes: bytes) }
    }
}
