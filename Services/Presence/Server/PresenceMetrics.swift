internal import Metrics

/// The metrics of presence; commands, timers and queries are counted by the code that runs them.
enum PresenceMetrics {
    static let opened = Counter(label: "heliograph_presence_sessions_opened_total")
    static let resumed = Counter(label: "heliograph_presence_sessions_resumed_total")
    static let detached = Counter(label: "heliograph_presence_sessions_detached_total")
    static let closed = Counter(label: "heliograph_presence_sessions_closed_total")
    /// Sessions ended because only PostgreSQL's copy had them.
    static let forgotten = Counter(label: "heliograph_presence_sessions_forgotten_total")
    static let gatewaysLost = Counter(label: "heliograph_presence_gateways_lost_total")
    /// Changes refused because the user would exceed the bounds of attributes.
    static let attributesRefused = Counter(label: "heliograph_user_attributes_refused_total")
    /// Reloads of caches that were newer than PostgreSQL, which had lost commits.
    static let attributesReloaded = Counter(label: "heliograph_user_attributes_reloaded_total")
}
