internal import CAgoraRtcCodes
internal import MediaClient
internal import NIOConcurrencyHelpers
internal import SignalingClient

/// The implementation of ``AgoraRtcEngineKit``: runs one call after another and turns their events into callbacks.
///
/// The lock is held while a call is asked for something, which only queues it, and while callbacks are queued: so the
/// order is the same for all. The app is never called with it.
final class EngineSession: Sendable {
    typealias JoinBlock = (String?, UInt, Int) -> Void
    typealias LeaveBlock = (AgoraRtcStats?) -> Void

    /// The call of the moment.
    enum Phase {
        /// None. A join leads to `joining`.
        case out
        /// The client tries to get in: leads to `inside`, `failed`, or `leaving`.
        case joining
        /// Leads to `failed` or `leaving`.
        case inside
        /// The call is over by an error; the app is to leave, which leads to `out`.
        case failed(MediaStatistics)
        /// The app has left; leads to `out` when the client is done.
        case leaving
    }

    struct State {
        var isDestroyed = false
        var vendorKey = ""
        var phase = Phase.out
        var call: (any MediaCall)?
        /// Counts the calls; events of earlier ones are recognised by it and dropped.
        var generation = 0
        var callID = ""
        var channel = ""
        var joinTime = 0
        var interruptionTime = 0
        var loudest: UInt32 = 0
        var joinSuccess: CallBlock<JoinBlock>?
        var leaveBlocks: [CallBlock<LeaveBlock>] = []
        var settings = EngineSettings()
    }

    let callbacks: EngineCallbacks
    let log = EngineLog()
    let surroundings: EngineSurroundings
    private let state = NIOLockedValueBox(State())

    init(_ surroundings: EngineSurroundings) {
        self.surroundings = surroundings
        callbacks = EngineCallbacks(onMainQueue: surroundings.callsOnMainQueue)
    }

    // MARK: - Methods

    /// Does something unless the engine was destroyed.
    /// - Returns: 0, or minus the code of the refusal.
    func act(_ name: String, _ body: (inout State) -> AgoraRtcErrorCode) -> Int32 {
        let code = state.withLockedValue { $0.isDestroyed ? .error_NotInitialized : body(&$0) }
        guard code != .error_NoError else { return 0 }
        log(.warning, "\(name) was refused: \(code.rawValue)")
        return -Int32(code.rawValue)
    }

    /// Refuses what is not built, after the checks of its arguments.
    func refuse(_ name: String, _ check: (State) -> AgoraRtcErrorCode? = { _ in nil }) -> Int32 {
        let code = state.withLockedValue { $0.isDestroyed ? .error_NotInitialized : check($0) }
        guard let code else {
            log.once(.warning, "\(name) is not built in this engine")
            return -Int32(AgoraRtcErrorCode.error_NotSupported.rawValue)
        }
        return -Int32(code.rawValue)
    }

    func read<Value>(_ body: (State) -> Value) -> Value { state.withLockedValue { body($0) } }

    /// Takes a vendor key, unless a call runs under the one before.
    func setVendorKey(_ key: String) {
        let isTaken = state.withLockedValue { state in
            guard case .out = state.phase else { return state.vendorKey == key }
            state.vendorKey = key
            return true
        }
        if !isTaken { log(.warning, "a new vendor key was ignored: a call runs under another one") }
    }

    /// Leaves without a callback, and forgets the app.
    func destroy() {
        callbacks.close()
        state.withLockedValue { state in
            state.isDestroyed = true
            state.generation += 1
            state.call?.leave()
            state.call = nil
            state.phase = .out
            state.joinSuccess = nil
            state.leaveBlocks = []
        }
        log(.info, "destroyed")
    }

    // MARK: - Joining and leaving

    func join(_ request: EngineRequest, _ joinSuccess: JoinBlock?) -> Int32 {
        let code = act("joinChannel") { state in
            guard case .out = state.phase else { return .error_JoinChannelRejected }
            guard request.hasValidChannel else { return .error_InvalidChannelName }
            guard EngineRequest.isVendorKey(state.vendorKey) else { return .error_InvalidVendorKey }
            guard let uid = UInt32(exactly: request.uid), request.hasValidInfo else {
                return .error_InvalidArgument
            }
            guard let source = surroundings.source else { return .error_NotReady }
            begin(configuration(request, uid, source, state), &state)
            state.joinSuccess = joinSuccess.map { CallBlock(body: $0) }
            callbacks.tell([{ $0.delegate?.rtcEngineMediaEngineDidLoaded($0.engine) }])
            return .error_NoError
        }
        if code == 0 {
            log(.info, "joining channel \(request.channel) as uid \(request.uid)")
            surroundings.devices.playback.route(speaker: read { $0.settings.isSpeaker })
        }
        if code == -Int32(AgoraRtcErrorCode.error_NotReady.rawValue) {
            log(.error, "no cluster URL: set HELIOGRAPH_URL or call AgoraRtcEngineKit.configure(discovery:devices:)")
        }
        return code
    }

    private func configuration(
        _ request: EngineRequest, _ uid: UInt32, _ source: GatewaySource, _ state: State
    ) -> MediaConfiguration {
        var configuration = MediaConfiguration(
            app: state.vendorKey, channel: request.channel, uid: uid,
            // Apps without keys pass their vendor key where a key is asked for.
            key: request.key == state.vendorKey ? "" : request.key, source: source, devices: surroundings.devices)
        configuration.info = request.info
        configuration.isMuted = state.settings.sendsNothing
        return configuration
    }

    private func begin(_ configuration: MediaConfiguration, _ state: inout State) {
        state.generation += 1
        state.phase = .joining
        state.callID = configuration.callID
        state.channel = configuration.channel
        state.joinTime = surroundings.milliseconds()
        state.loudest = 0
        let generation = state.generation
        let call = surroundings.makeCall(configuration) { [weak self] in self?.happened($0, generation) }
        state.call = call
        call.start()
        state.settings.apply(to: call)
    }

    func leave(_ block: LeaveBlock?) -> Int32 {
        act("leaveChannel") { state in
            if let block { state.leaveBlocks.append(CallBlock(body: block)) }
            state.settings.resetMutes()
            switch state.phase {
            case .out: finish(MediaStatistics(), &state)
            case .failed(let statistics): finish(statistics, &state)
            case .joining, .inside:
                state.phase = .leaving
                state.call?.leave()
            case .leaving: break
            }
            return .error_NoError
        }
    }

    /// The user is out: says so, as the last callback of the call.
    private func finish(_ statistics: MediaStatistics, _ state: inout State) {
        let blocks = state.leaveBlocks
        state.phase = .out
        state.call = nil
        state.generation += 1
        state.joinSuccess = nil
        state.leaveBlocks = []
        log(.info, "left after \(statistics.duration) s")
        callbacks.tell([
            { receiver in
                let stats = { AgoraRtcStats(statistics) }
                if !blocks.isEmpty { return blocks.forEach { $0.body(stats()) } }
                if let block = receiver.blocks.leaveChannel { return block(stats()) }
                receiver.delegate?.rtcEngine(receiver.engine, didLeaveChannelWith: stats())
            }
        ])
    }

    // MARK: - Events

    private func happened(_ event: MediaEvent, _ generation: Int) {
        state.withLockedValue { state in
            guard generation == state.generation else { return }
            log(event.logLevel, event.logText)
            switch state.phase {
            case .joining, .inside: tell(event, &state)
            // After leaveChannel, or the end of the call, only the block of leaveChannel is called.
            case .leaving: if case .ended(_, let statistics) = event { finish(statistics, &state) }
            case .failed: if case .ended(_, let statistics) = event { state.phase = .failed(statistics) }
            case .out: break
            }
        }
    }

    private func tell(_ event: MediaEvent, _ state: inout State) {
        switch callbacks.backlog {
        case .fine: callbacks.tell(note(event, &state))
        case .reportsLeftOut:
            switch event {
            case .volumes, .statistics: log.once(.warning, "reports are left out: the app does not take its callbacks")
            default: callbacks.tell(note(event, &state))
            }
        case .full:
            log(.fatal, "the call is left: the app does not take its callbacks")
            state.call?.leave()
            let error = MediaError(code: 1, reason: "events_overflowed", message: "the app does not take its callbacks")
            callbacks.tell(note(.ended(error, MediaStatistics()), &state))
        }
    }

    /// Updates the state after an event.
    /// - Returns: the callbacks to call, in order.
    private func note(_ event: MediaEvent, _ state: inout State) -> [EngineCallbacks.Callback] {
        let now = surroundings.milliseconds()
        var moment = MediaEvent.Moment(channel: state.channel, elapsed: now - state.joinTime)
        switch event {
        case .joined:
            state.phase = .inside
            moment.joinSuccess = state.joinSuccess
            state.joinSuccess = nil
        case .interrupted: state.interruptionTime = now
        case .rejoined: moment.elapsed = now - state.interruptionTime
        case .volumes(let volumes):
            let loudest = volumes.speakers.first { $0.uid != 0 }?.uid ?? state.loudest
            moment.activeSpeaker = loudest == state.loudest ? nil : loudest
            state.loudest = loudest
        case .ended(_, let statistics):
            state.phase = .failed(statistics)
            state.call = nil
            state.joinSuccess = nil
        case .deviceFailed(let device, let failure):
            if case .joining = state.phase {
                return event.callbacks(moment) + cannotStart(device, failure, &state)
            }
        case .userJoined, .userLeft, .audioMuted, .videoMuted, .videoEnabled, .statistics, .lost, .warning, .keyExpired,
            .keyRenewed, .keyRefused:
            break
        }
        return event.callbacks(moment)
    }

    /// A call without its devices is none: the attempt ends.
    private func cannotStart(
        _ device: MediaDevice, _ failure: DeviceFailure, _ state: inout State
    ) -> [EngineCallbacks.Callback] {
        state.call?.leave()
        let error = MediaError(
            code: 1002, reason: "start_failed", message: "the \(device) device cannot start: \(failure)")
        return note(.ended(error, MediaStatistics()), &state)
    }
}
