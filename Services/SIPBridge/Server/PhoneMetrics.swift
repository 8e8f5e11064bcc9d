internal import MessageStore
internal import SIPBridgeLogic
internal import ServiceMetrics

/// What a sip-bridge counts, besides commands and queries.
struct PhoneMetrics: Sendable {
    /// The metrics of this process.
    static let shared = PhoneMetrics()

    /// The direction of a call; the raw value is the metric's label.
    enum Direction: String, CaseIterable, Sendable {
        case outbound
        case inbound
    }

    /// How a call ended.
    enum Outcome: String, CaseIterable, Sendable {
        case answered
        case refused
        case failed
        /// The caller gave up before the answer.
        case cancelled
    }

    /// How a digit is transmitted.
    enum DigitTransport: String, CaseIterable, Sendable {
        case event
        case info
    }

    /// How a request from an unknown address was treated.
    enum StrangerVerdict: String, CaseIterable, Sendable {
        case refused
        case challenged
        case silenced
    }

    /// What became of a registration at a trunk's registrar.
    enum RegistrationChange: String, CaseIterable, Sendable {
        case registered
        case lost
    }

    let active = Gauge("heliograph_sip_calls_active", "Calls of this bridge that have not ended.")
    let setup = Histogram("heliograph_sip_call_setup_seconds", "Time from a call to its answer.")
    let digitsFailed = Counter("heliograph_sip_dtmf_failed_total", "Digits that could not be sent.")
    let unknownEvents = EventMetrics.shared.unknown
    let reportsDropped = Counter(
        "heliograph_sip_reports_dropped_total",
        "Reports to which the invitation service did not reply; their calls may end because of that.")
    let callBoundHit = Counter(
        "heliograph_sip_call_bound_hit_total",
        "Calls refused because the bridge had HELIOGRAPH_SIP_CALLS calls already.")
    let pendingBoundHit = Counter(
        "heliograph_sip_pending_bound_hit_total",
        "Trunks' calls refused because 1,000 numbers were being looked up.")
    let tracesDropped = Counter(
        "heliograph_sip_traces_dropped_total",
        "SIP messages left out of traces because there were more than 100 per second.")
    let cutOff = Counter(
        "heliograph_sip_cut_off_total", "Times that a bridge ended its calls because it could not renew its lease.")
    let leasesLost = Counter(
        "heliograph_sip_leases_lost_total", "Times that a bridge lost its lease and ended all its calls.")
    let registrations = CounterSet<RegistrationChange>(
        "heliograph_sip_registrations_total", "Registrations accepted by a trunk's registrar, or lost.",
        label: "result")
    let unregistered = Gauge(
        "heliograph_sip_trunks_unregistered", "Trunks at which this bridge should be registered, and is not.")

    private let calls: [Direction: CounterSet<Outcome>] = Dictionary(
        uniqueKeysWithValues: Direction.allCases.map { direction in
            (
                direction,
                CounterSet(
                    "heliograph_sip_calls_total", "Calls that ended, by how.", label: "result",
                    and: ("direction", direction.rawValue))
            )
        })
    private let digitsSent = CounterSet<DigitTransport>(
        "heliograph_sip_dtmf_sent_total", "Digits sent to telephones.", label: "method")
    private let digitsReceived = CounterSet<DigitTransport>(
        "heliograph_sip_dtmf_received_total", "Digits received from telephones.", label: "method")
    private let strangers = CounterSet<StrangerVerdict>(
        "heliograph_sip_strangers_total", "Requests from addresses that belong to no trunk.", label: "verdict")
    private let drops = CounterSet<SIPDropReason>(
        "heliograph_sip_dropped_total", "SIP messages that were dropped.", label: "reason")
    private let refused = CounterSet<ForbiddenCall>(
        "heliograph_sip_calls_forbidden_total", "Calls that their callers were not allowed to make.", label: "reason")

    /// Counts a call that its caller was not allowed to make; other reasons are not counted here.
    func countRefused(_ reason: DialogReason) {
        if let reason = ForbiddenCall(rawValue: reason.rawValue) { refused.increment(reason) }
    }
    func count(_ direction: Direction, _ outcome: Outcome) { calls[direction]?.increment(outcome) }
    func countSent(_ way: DigitTransport, _ digits: Int) { digitsSent.increment(way, by: digits) }
    func countReceived(_ way: DigitTransport) { digitsReceived.increment(way) }
    func count(_ stranger: StrangerVerdict) { strangers.increment(stranger) }
    func count(_ drop: SIPDropReason) { drops.increment(drop) }

    /// Those reasons of ``DialogReason`` for which a call is not even dialled.
    private enum ForbiddenCall: String, CaseIterable, Sendable {
        case numberNotAllowed = "number_not_allowed"
        case callerNotAllowed = "caller_not_allowed"
        case invalidHeader = "invalid_header"
    }
}
