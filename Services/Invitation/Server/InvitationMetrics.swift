internal import InvitationLogic
internal import Metrics

/// What the service counts besides its commands.
enum InvitationMetrics {
    static let started = Counter(label: "heliograph_invitation_calls_started_total")
    static let accepted = Counter(label: "heliograph_invitation_calls_accepted_total")
    static let conflicts = Counter(label: "heliograph_invitation_conflicts_total")
    static let conflictBoundHit = Counter(label: "heliograph_invitation_conflict_bound_hit_total")
    static let eventsDropped = Counter(label: "heliograph_invitation_events_dropped_total")
    static let logEntriesDropped = Counter(label: "heliograph_invitation_log_entries_dropped_total")

    private static let ended: [CallEnd: Counter] = Dictionary(
        uniqueKeysWithValues: CallEnd.allCases.map { end in
            (end, Counter(label: "heliograph_invitation_calls_ended_total", dimensions: [("outcome", end.rawValue)]))
        })

    /// Counts what a commit brought about; repetitions are not counted.
    static func count(_ actions: [CallAction]) {
        for case .log(let entry) in actions {
            if entry.call.acknowledgedAt == nil, entry.endedAt == nil || entry.endedAt == entry.call.startedAt {
                started.increment()
            }
            if entry.call.acceptedAt != nil, entry.endedAt == nil { accepted.increment() }
            if let end = entry.end { ended[end]?.increment() }
        }
    }
}
