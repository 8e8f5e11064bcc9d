internal import Metrics
internal import SIPBridgeLogic

/// The metrics of the bridge's calls.
enum PhoneMetrics {
    /// The direction of a call; the raw value is the metric's label.
    enum Direction: String, CaseIterable {
        case outbound
        case inbound
    }

    /// How a call ended.
    enum Outcome: String, CaseIterable {
        case answered
        case refused
        case failed
        /// The caller gave up before the answer.
        case cancelled
    }

    /// How a digit is transmitted.
    enum DigitTransport: String, CaseIterable {
        case event
        case info
    }

    /// How a request from an unknown address was treated.
    enum StrangerVerdict: String, CaseIterable {
        case refused
        case challenged
        case silenced
    }

    static let active = Gauge(label: "heliograph_sip_calls_active")
    static let setup = Metrics.Timer(label: "heliograph_sip_call_setup")
    static let digitsFailed = Counter(label: "heliograph_sip_dtmf_failed_total")
    /// Published events that were skipped because only a newer release knows their kind.
    static let unknownEvents = Counter(label: "heliograph_events_unknown_total")
    static let reportsDropped = Counter(label: "heliograph_sip_reports_dropped_total")
    static let callBoundHit = Counter(label: "heliograph_sip_call_bound_hit_total")
    static let pendingBoundHit = Counter(label: "heliograph_sip_pending_bound_hit_total")
    static let tracesDropped = Counter(label: "heliograph_sip_traces_dropped_total")
    static let cutOff = Counter(label: "heliograph_sip_cut_off_total")
    static let leasesLost = Counter(label: "heliograph_sip_leases_lost_total")

    private static let calls = Dictionary(
        uniqueKeysWithValues: Direction.allCases.flatMap { direction in
            Outcome.allCases.map { result in
                let dimensions = [("direction", direction.rawValue), ("result", result.rawValue)]
                return ("\(direction) \(result)", Counter(label: "heliograph_sip_calls_total", dimensions: dimensions))
            }
        })
    private static let digitsSent = counters("heliograph_sip_dtmf_sent_total", "method", DigitTransport.self)
    private static let digitsReceived = counters("heliograph_sip_dtmf_received_total", "method", DigitTransport.self)
    private static let strangers = counters("heliograph_sip_strangers_total", "verdict", StrangerVerdict.self)
    private static let refused = Dictionary(
        uniqueKeysWithValues: [DialogReason.numberNotAllowed, .callerNotAllowed, .invalidHeader].map {
            ($0, Counter(label: "heliograph_sip_calls_forbidden_total", dimensions: [("reason", $0.rawValue)]))
        })
    private static let drops = counters("heliograph_sip_dropped", "reason", SIPDropReason.self)

    /// Counts a call that its caller was not allowed to make; other reasons are not counted here.
    static func countRefused(_ reason: DialogReason) { refused[reason]?.increment() }
    static func count(_ direction: Direction, _ outcome: Outcome) { calls["\(direction) \(outcome)"]?.increment() }
    static func countSent(_ way: DigitTransport, _ digits: Int) { digitsSent[way.rawValue]?.increment(by: digits) }
    static func countReceived(_ way: DigitTransport) { digitsReceived[way.rawValue]?.increment() }
    static func count(_ stranger: StrangerVerdict) { strangers[stranger.rawValue]?.increment() }
    static func count(_ drop: SIPDropReason) { drops[drop.rawValue]?.increment() }

    private static func counters<Kind: RawRepresentable<String> & CaseIterable>(
        _ label: String, _ dimension: String, _: Kind.Type
    ) -> [String: Counter] {
        Dictionary(
            uniqueKeysWithValues: Kind.allCases.map {
                ($0.rawValue, Counter(label: label, dimensions: [(dimension, $0.rawValue)]))
            })
    }
}
