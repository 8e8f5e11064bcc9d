internal import ClusterState
internal import Logging
internal import PostgresStore
internal import SIPBridgeLogic
internal import ServiceMetrics
internal import SignalingProtocol

/// The telephone's side of one call: performs the actions of its ``DialogStateMachine``.
@SIPThread
final class PhoneCallDriver {
    let call: PhoneCall
    let direction: PhoneMetrics.Direction
    let resources: CallResources
    private(set) var machine = DialogStateMachine()
    var logger: Logger

    /// Called when an outbound call's trunk must be looked up.
    var onPrepare: (() -> Void)?
    /// Called when a message to the invitation service waits.
    var onMessage: (() -> Void)?
    /// Called when the call has ended.
    var onClose: (() -> Void)?
    /// Called when no message of the dialog is expected any more.
    var onForget: (() -> Void)?

    // The SIP side.
    var dialog: SIPDialog?
    var digest: DigestClient?
    var trunk: SIPTrunk?

    // Outbound.
    var outbound: OutboundCall?
    var offer: SIPBody?
    var invite: SIPClientRequest?
    var mainTag: String?
    var forks: [String: SIPDialog] = [:]
    var early: SIPMessage?

    // Inbound.
    var inviteRequest: SIPServerRequest?
    var answer: SIPBody?
    var invitationExtra = ""
    var ring: Duration?

    /// The request or response of the event that is being handled.
    var requestAtHand: SIPServerRequest?
    var responseAtHand: SIPMessage?
    /// Our latest 2xx to an INVITE, for repetitions.
    var accepted: (request: SIPServerRequest, bytes: [UInt8])?

    var media: MediaSession?
    var digits = PhoneDigits()

    private var timers: [DialogTimer: SIPTimer] = [:]
    private var actions: [DialogAction] = []
    private var isPerforming = false
    var messages: [Message] = []
    var record = PhoneRecord()
    private let startedAt = SIPLoop.now
    /// How the call is counted in the metrics.
    var result = PhoneMetrics.Outcome.cancelled

    init(_ call: PhoneCall, _ direction: PhoneMetrics.Direction, resources: CallResources) {
        self.call = call
        self.direction = direction
        self.resources = resources
        logger = resources.logger
        logger[metadataKey: "call"] = "\(call.id)"
        logger[metadataKey: "app"] = "\(call.channel.app)"
    }

    /// The SIP Call-ID; nil before there is one.
    var sipCallID: String? { record.sipCallID }
    var isUp: Bool { machine.isUp }
    var isOver: Bool { machine.isOver }

    /// Records the SIP Call-ID for reports and logs.
    func noteCallID(_ id: String, isTraced: Bool) {
        record.sipCallID = id
        logger[metadataKey: "sip_call_id"] = "\(id)"
        if isTraced { resources.stack.traced.insert(id) }
    }

    /// Traces a message that arrived before it was known that its call is traced.
    func trace(_ message: SIPMessage) {
        guard !resources.stack.tracesAll else { return }
        let here = SIPEndpoint(
            host: resources.stack.contactHost, port: resources.stack.port, transport: message.source.transport)
        resources.stack.onTrace?(
            SIPTraceRecord(
                isSent: false, source: message.source, destination: here, callID: message.callID,
                text: String(decoding: message.bytes, as: UTF8.self)))
    }

    /// Records the final status of a peer's INVITE.
    func note(status: Int) {
        record.status = status
        record.reason = SIPReason.phrase(status)
    }

    // MARK: - Events

    /// Passes an event to the state machine and performs its actions, and those of the events that they cause, in
    /// order.
    func step(_ event: (inout DialogStateMachine) -> [DialogAction]) {
        actions += event(&machine)
        guard !isPerforming else { return }
        isPerforming = true
        while !actions.isEmpty { perform(actions.removeFirst()) }
        isPerforming = false
    }

    /// Passes an event about a peer's request to the state machine.
    func step(about request: SIPServerRequest, _ event: (inout DialogStateMachine) -> [DialogAction]) {
        let before = requestAtHand
        requestAtHand = request
        step(event)
        requestAtHand = before
    }

    /// Passes an event about a response to the state machine.
    func step(about response: SIPMessage, _ event: (inout DialogStateMachine) -> [DialogAction]) {
        let before = responseAtHand
        responseAtHand = response
        step(event)
        responseAtHand = before
    }

    /// Handles an order of the invitation service: an act of the user or the system.
    func ordered(_ order: OrderPhone) {
        logger.debug("order", metadata: ["order": "\(order.act.rawValue)"])
        switch order.act {
        case .message: send(order.extra)
        case .fail: step { $0.ordered(.fail, code: CallExtraJSON.code(order.extra)) }
        case .ringing, .accept, .refuse, .end: step { $0.ordered(order.act) }
        }
    }

    // MARK: - Actions

    private func perform(_ action: DialogAction) {
        switch action {
        case .report(let act, let note): report(act, note)
        case .inviteUser: inviteUser()
        case .prepare: onPrepare?()
        case .sendInvite(let headers): sendInvite(headers)
        case .sendCancel: invite?.cancel()
        case .acknowledge(let tag): acknowledge(tag)
        case .endFork(let tag): endFork(tag)
        case .takeDescription: takeDescription()
        case .startMedia: startMedia()
        case .respondInvite(let reply): respondInvite(reply)
        case .acceptInvite(let headers): acceptInvite(headers)
        case .respond(let reply): if let requestAtHand { respond(to: requestAtHand, reply) }
        case .answerOffer(let offer, let headers): answerOffer(offer, headers)
        case .resendAnswer: resendAnswer()
        case .sendUpdate(let headers): refresh("UPDATE", headers)
        case .sendReinvite(let headers): refresh("INVITE", headers)
        case .sendBye: sendBye()
        case .schedule(let timer, let after): schedule(timer, after: after)
        case .cancel(let timer): timers[timer]?.stop()
        case .close: close()
        case .forget: forget()
        }
    }

    private func schedule(_ kind: DialogTimer, after delay: Duration) {
        let timer =
            timers[kind]
            ?? SIPTimer { [weak self] in self?.step { $0.timerFired(kind) } }
        timers[kind] = timer
        timer.start(after: delay)
    }

    private func startMedia() {
        guard let media else { return }
        if direction == .inbound { result = .answered }
        PhoneMetrics.shared.setup.record(SIPLoop.now - startedAt)
        media.onDigit = { [weak self] in self?.report(digit: $0, by: .event) }
        media.onRTPTimeout = { [weak self] in self?.step { $0.mediaTimedOut() } }
        media.start()
        logger.info(
            "the call is up",
            metadata: ["direction": "\(direction.rawValue)", "secure": "\(media.isSecure)"])
        mediaStarted(media)
    }

    private func close() {
        for timer in timers.values { timer.stop() }
        digits.pause = nil
        media?.stop()
        media = nil
        PhoneMetrics.shared.count(direction, result)
        logger.info(
            "the call is over",
            metadata: [
                "direction": "\(direction.rawValue)", "result": "\(result.rawValue)",
                "milliseconds": "\((SIPLoop.now - startedAt).wholeMilliseconds)",
            ])
        onClose?()
    }

    private func forget() {
        if let sipCallID { resources.stack.traced.remove(sipCallID) }
        timers = [:]
        onForget?()
        (onPrepare, onMessage, onClose, onForget) = (nil, nil, nil, nil)
    }
}
