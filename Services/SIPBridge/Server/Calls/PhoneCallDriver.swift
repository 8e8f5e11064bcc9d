internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import Logging
internal import Pacing
internal import PostgresStore
internal import SIPBridgeLogic
internal import ServiceMetrics
internal import SignalingProtocol

/// The telephone's side of one call: performs the actions of its ``DialogStateMachine``. What only calls to a telephone
/// do is in ``OutboundLeg``, what only calls from one do in ``InboundLeg``.
@SIPThread
class PhoneCallDriver {
    let call: PhoneCall
    let direction: PhoneMetrics.Direction
    let resources: CallResources
    /// The owner of all calls, which outlives them.
    unowned let owner: any PhoneCallOwner
    private(set) var machine = DialogStateMachine()
    var logger: Logger

    /// The dialog; nil while the trunk of an outbound call is being looked up.
    var dialog: CallDialog?
    /// The media; nil before there is a dialog, and after the call.
    var media: MediaSession?
    var digits = PhoneDigits()
    /// Our latest 2xx to an INVITE, for repetitions.
    var accepted: (request: SIPServerRequest, bytes: [UInt8])?

    private var timers: [DialogTimer: SIPTimer] = [:]
    private var actions: [(action: DialogAction, message: DialogMessage?)] = []
    private var isPerforming = false
    var messages: [Message] = []
    var record = PhoneRecord()
    private let startedAt = SIPLoop.now
    /// How the call is counted in the metrics.
    var result = PhoneMetrics.Outcome.cancelled

    init(
        _ call: PhoneCall, _ direction: PhoneMetrics.Direction, resources: CallResources, owner: any PhoneCallOwner
    ) {
        self.call = call
        self.direction = direction
        self.resources = resources
        self.owner = owner
        logger = resources.logger
        logger[metadataKey: "call"] = "\(call.id)"
        logger[metadataKey: "app"] = "\(call.channel.app)"
    }

    /// The SIP Call-ID; nil before there is one.
    var sipCallID: String? { record.sipCallID }
    /// Whether a message belongs to the call's dialog.
    func owns(_ message: SIPMessage) -> Bool { dialog?.sip.matches(message) == true }
    var isUp: Bool { machine.isUp }
    var isOver: Bool { machine.isOver }

    /// Records the SIP Call-ID for reports and logs.
    func noteCallID(_ id: String, isTraced: Bool) {
        record.sipCallID = id
        logger[metadataKey: "sip_call_id"] = "\(id)"
        if isTraced { resources.stack.traced.insert(id) }
    }

    /// Records the final status of a peer's INVITE.
    func note(status: Int) {
        record.status = status
        record.reason = SIPReason.phrase(status)
    }

    // MARK: - Events

    /// Passes an event to the state machine and performs its actions, and those of the events that they cause, in
    /// order.
    /// - Parameter message: the message that the event is about, if any.
    func step(about message: DialogMessage? = nil, _ event: (inout DialogStateMachine) -> [DialogAction]) {
        actions += event(&machine).map { ($0, message) }
        guard !isPerforming else { return }
        isPerforming = true
        while !actions.isEmpty {
            let next = actions.removeFirst()
            perform(next.action, about: next.message)
        }
        isPerforming = false
    }

    /// Handles an order of the invitation service: an act of the user or the system.
    func ordered(_ order: OrderPhone, _ context: CommandContext) {
        logger.about(context).debug("order", metadata: ["order": "\(order.act.rawValue)"])
        switch order.act {
        case .message: send(order.extra)
        case .fail: step { $0.ordered(.fail, code: CallExtraJSON.code(order.extra)) }
        case .ringing, .accept, .refuse, .end: step { $0.ordered(order.act) }
        }
    }

    // MARK: - Actions

    private func perform(_ action: DialogAction, about message: DialogMessage?) {
        switch action {
        case .outbound(let action): perform(action)
        case .inbound(let action): perform(action)
        case .report(let act, let note): report(act, note)
        case .acknowledge(let tag): acknowledge(tag, message)
        case .takeDescription: takeDescription(message)
        case .startMedia: startMedia()
        case .respond(let reply): respond(to: message, reply)
        case .answerOffer(let offer, let headers): answerOffer(offer, headers, message)
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

    /// Performs an action of a call to a telephone.
    func perform(_ action: OutboundAction) { excluded("an action of a call to a telephone: \(action)") }

    /// Performs an action of a call from a telephone.
    func perform(_ action: InboundAction) { excluded("an action of a call from a telephone: \(action)") }

    /// The dialog in which a 2xx with this tag is acknowledged.
    /// - Parameter own: the dialog of the call.
    func dialog(of response: SIPMessage, tag: String, own: SIPDialog) throws(SIPError) -> SIPDialog { own }

    /// The session description that arrived before the answer, which counts if the answer has none.
    var earlyDescription: SIPMessage? { nil }

    /// Called for what the state machine never asks for in this call: a mistake of ours, which ends the call.
    func excluded(_ what: String) {
        assertionFailure(what)
        logger.error("ending a call after a mistake", metadata: ["what": "\(what)"])
        step { $0.abandoned(.unreachable) }
    }

    private func schedule(_ kind: DialogTimer, after delay: Duration) {
        let timer =
            timers[kind]
            ?? SIPTimer { [weak self] in self?.step { $0.timerFired(kind) } }
        timers[kind] = timer
        timer.start(after: delay)
    }

    func startMedia() {
        guard let media else { return }
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
        owner.ended(self)
    }

    private func forget() {
        if let sipCallID { resources.stack.traced.remove(sipCallID) }
        timers = [:]
        owner.forget(self)
    }
}

/// What a call needs from the owner of all calls.
@SIPThread
protocol PhoneCallOwner: AnyObject {
    /// Looks up the trunk of a call and prepares the call, when its turn comes.
    func prepareLater(_ leg: OutboundLeg)
    /// Sends the messages of a call to the invitation service, when their turn comes.
    func sendReportsLater(of driver: PhoneCallDriver)
    /// Records that a call has ended.
    func ended(_ driver: PhoneCallDriver)
    /// Forgets a call: no message of its dialog is expected any more.
    func forget(_ driver: PhoneCallDriver)
}
