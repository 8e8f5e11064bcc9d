internal import InvitationLogic
internal import Metrics

/// The service's metrics besides those of its commands.
enum InvitationMetrics {
    static let started = Counter(label: "heliograph_invitation_calls_started_total")
    static let accepted = Counter(label: "heliograph_invitation_calls_accepted_total")
    static let conflicts = Counter(label: "heliograph_invitation_conflicts_total")
    static let conflictBoundHit = Counter(label: "heliograph_invitation_conflict_bound_hit_total")
    static let callsOfUserBoundHit = Counter(label: "heliograph_invitation_user_calls_bound_hit_total")
    static let eventsDropped = Counter(label: "heliograph_invitation_events_dropped_total")
    static let callsLost = Counter(label: "heliograph_invitation_calls_lost_total")
    static let logPruned = Counter(label: "heliograph_invitation_log_pruned_total")
    static let logEntriesDropped = Counter(label: "heliograph_invitation_log_entries_dropped_total")

    static let ordersDropped = Counter(label: "heliograph_invitation_phone_orders_dropped_total")
    static let bridgesLost = Counter(label: "heliograph_invitation_bridges_lost_total")

    private static let ended: [CallEnd: Counter] = Dictionary(
        uniqueKeysWithValues: CallEnd.allCases.map { end in
            (end, Counter(label: "heliograph_invitation_calls_ended_total", dimensions: [("outcome", end.rawValue)]))
        })

    private static let phoneEnded: [CallRole: [CallEnd: Counter]] = Dictionary(
        uniqueKeysWithValues: [(CallRole.caller, "inbound"), (.callee, "outbound")].map { role, direction in
            let counters = CallEnd.allCases.map { end in
                (
                    end,
                    Counter(
                        label: "heliograph_invitation_phone_calls_ended_total",
                        dimensions: [("direction", direction), ("outcome", end.rawValue)])
                )
            }
            return (role, Dictionary(uniqueKeysWithValues: counters))
        })

    /// Counts the effects of a commit; repetitions are not counted.
    static func count(_ actions: [CallAction]) {
        for case .log(let entry) in actions {
            if entry.call.acknowledgedAt == nil, entry.endedAt == nil || entry.endedAt == entry.call.startedAt {
                started.increment()
            }
            if entry.call.acceptedAt != nil, entry.endedAt == nil { accepted.increment() }
            guard let end = entry.end else { continue }
            ended[end]?.increment()
            if let phone = entry.call.phone { phoneEnded[phone.role]?[end]?.increment() }
        }
    }
}
