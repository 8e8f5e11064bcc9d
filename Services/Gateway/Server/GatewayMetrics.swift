internal import CoreMetrics

/// The gateway's metrics, with the names that operators see.
enum GatewayMetrics {
    static let logins = Counter(label: "heliograph_gateway_logins_total")
    static let loginFailures = Counter(label: "heliograph_gateway_login_failures_total")
    static let resumes = Counter(label: "heliograph_gateway_resumes_total")
    static let cutOff = Counter(label: "heliograph_gateway_slow_clients_total")
    static let calls = Counter(label: "heliograph_gateway_calls_total")
    static let callFailures = Counter(label: "heliograph_gateway_call_failures_total")
    static let limited = Counter(label: "heliograph_gateway_rate_limited_total")
    static let actsLimited = Counter(label: "heliograph_gateway_acts_limited_total")
    static let specialRefused = Counter(label: "heliograph_gateway_special_channel_refusals_total")
    static let appQuestionsRefused = Counter(label: "heliograph_gateway_app_questions_refused_total")
    static let socketsRefused = Counter(label: "heliograph_gateway_sockets_refused_total")
    static let proxyRefused = Counter(label: "heliograph_gateway_proxy_refusals_total")
    static let addressRefused = Counter(label: "heliograph_gateway_address_refusals_total")
    static let loginsLimited = Counter(label: "heliograph_gateway_logins_limited_total")
    static let pollsDelayed = Counter(label: "heliograph_gateway_polls_delayed_total")
    static let overdue = Counter(label: "heliograph_gateway_calls_overdue_total")
    static let pauses = Counter(label: "heliograph_gateway_reading_paused_total")
    static let outputFull = Counter(label: "heliograph_gateway_output_full_total")
    static let certificateReloads = Counter(label: "heliograph_gateway_certificate_reloads_total")
    static let certificateReloadFailures = Counter(label: "heliograph_gateway_certificate_reload_failures_total")
    static let deliveries = Counter(label: "heliograph_gateway_deliveries_total")
    static let violations = Counter(label: "heliograph_gateway_protocol_violations_total")
    static let outputWaiting = Gauge(label: "heliograph_gateway_output_waiting_bytes")
    /// Messages refused because the receiver's mailbox was full.
    static let mailboxesFull = Counter(label: "heliograph_gateway_mailbox_full_total")
    /// Messages refused because Redis was out of memory.
    static let memoryFull = Counter(label: "heliograph_gateway_memory_full_total")
    /// Mailboxes and channels whose numbers went backwards: Redis was restored to an older state.
    static let mailboxResets = Counter(label: "heliograph_gateway_mailbox_resets_total")
    static let channelResets = Counter(label: "heliograph_gateway_channel_resets_total")
    /// Published events that were skipped because only a newer release knows their kind.
    static let unknownEvents = Counter(label: "heliograph_events_unknown_total")
    /// Reads of a channel's log that found events missing.
    static let channelGaps = Counter(label: "heliograph_gateway_channel_gaps_total")
    /// Sessions that Redis placed at this gateway and that it did not have.
    static let ghosts = Counter(label: "heliograph_gateway_ghost_sessions_total")
    /// Sessions that this gateway had and that, according to Redis, were over or at another gateway.
    static let lost = Counter(label: "heliograph_gateway_lost_sessions_total")
    static let connections = Gauge(label: "heliograph_gateway_connections")
    static let sessions = Gauge(label: "heliograph_gateway_sessions")
    static let channels = Gauge(label: "heliograph_gateway_channels")
    /// Resumes given up because the events of the session's channel could not be obtained.
    static let abandonedResumes = Counter(label: "heliograph_gateway_abandoned_resumes_total")
    /// Joins without an answer; the gateway then had to ask which channel the session is in.
    static let unsettledJoins = Counter(label: "heliograph_gateway_unsettled_joins_total")
}
