internal import InvitationLogic
internal import ServiceMetrics

/// What the invitation service counts, besides commands, timers and queries.
struct InvitationMetrics: Sendable {
    /// The metrics of this process.
    static let shared = InvitationMetrics()

    /// The bounds of calls to telephones; the raw value is the metric's label.
    enum PhoneBound: String, CaseIterable, Sendable {
        case userCalls = "user_calls"
        case userRate = "user_rate"
        case appCalls = "app_calls"
        case appRate = "app_rate"
    }

    let started = Counter("heliograph_invitation_calls_started_total", "Calls that were made.")
    let accepted = Counter("heliograph_invitation_calls_accepted_total", "Calls that were answered.")
    let conflicts = Counter(
        "heliograph_invitation_conflicts_total",
        "Commits repeated because another process had changed the same call meanwhile.")
    let conflictBoundHit = Counter(
        "heliograph_invitation_conflict_bound_hit_total", "Commits given up after too many such repetitions.")
    let callsOfUserBoundHit = Counter(
        "heliograph_invitation_user_calls_bound_hit_total",
        "Invitations refused because one of the parties had 1,000 calls.")
    let eventsDropped = Counter(
        "heliograph_invitation_events_dropped_total", "Call events that could not be put into a user's mailbox.")
    let followedDropped = Counter(
        "heliograph_invitation_followed_events_dropped_total",
        "Changes of calls that the server API's streams will not tell: too many waited for a Redis that was away.")
    let callsLost = Counter(
        "heliograph_invitation_calls_lost_total",
        "Calls that the log showed as going on but whose record in Redis was lost; they were ended with 702.")
    let logPruned = Counter(
        "heliograph_invitation_log_pruned_total", "Calls deleted from the call log because of their age.")
    let logEntriesDropped = Counter(
        "heliograph_invitation_log_entries_dropped_total", "Entries of the call log that could not be decoded.")
    let ordersDropped = Counter(
        "heliograph_invitation_phone_orders_dropped_total", "Orders to a sip-bridge that did not exist any more.")
    let bridgesLost = Counter(
        "heliograph_invitation_bridges_lost_total", "Sip-bridges that ended without a shutdown.")
    let phoneCallsRefused = CounterSet<PhoneBound>(
        "heliograph_invitation_phone_calls_refused_total",
        "Calls to telephones refused because of a user's or an app's limits.", label: "bound")

    let webhookApps = Gauge(
        "heliograph_invitation_webhook_apps",
        "Apps with a webhook, which need a webhooks process; the same in every process.")
    let webhookOldest = Gauge(
        "heliograph_invitation_webhook_oldest_seconds",
        "How long the oldest event for a webhook has been waiting, also when no webhooks process runs.")
    let webhookFailing = Gauge(
        "heliograph_invitation_webhook_failing_apps",
        "Apps with a receiver that did not take the last request; the same in every process.")
    let webhookDead = Gauge(
        "heliograph_invitation_webhook_dead_letters",
        "Dead letters that are kept, of each webhook up to 1,000; the same in every process.")

    private let ended = CounterSet<CallEnd>(
        "heliograph_invitation_calls_ended_total", "Calls that ended, by how.", label: "outcome")
    private let phoneEnded: [CallRole: CounterSet<CallEnd>] = [
        .caller: endedWithPhones("inbound"), .callee: endedWithPhones("outbound"),
    ]

    private static func endedWithPhones(_ direction: String) -> CounterSet<CallEnd> {
        CounterSet(
            "heliograph_invitation_phone_calls_ended_total", "Calls with telephones that ended, by how.",
            label: "outcome", and: ("direction", direction))
    }

    /// Counts the effects of a commit; repetitions are not counted.
    func count(_ actions: [CallAction]) {
        for case .log(let entry) in actions {
            if entry.call.acknowledgedAt == nil, entry.endedAt == nil || entry.endedAt == entry.call.startedAt {
                started.increment()
            }
            if entry.call.acceptedAt != nil, entry.endedAt == nil { accepted.increment() }
            guard let end = entry.end else { continue }
            ended.increment(end)
            if let phone = entry.call.phone { phoneEnded[phone.role]?.increment(end) }
        }
    }
}
