internal import CoreMetrics

/// What a gateway counts.
enum GatewayMetrics {
    static let logins = Counter(label: "heliograph_gateway_logins_total")
    static let loginFailures = Counter(label: "heliograph_gateway_login_failures_total")
    static let resumes = Counter(label: "heliograph_gateway_resumes_total")
    static let cutOff = Counter(label: "heliograph_gateway_slow_clients_total")
    static let calls = Counter(label: "heliograph_gateway_calls_total")
    static let callFailures = Counter(label: "heliograph_gateway_call_failures_total")
    static let limited = Counter(label: "heliograph_gateway_rate_limited_total")
    static let deliveries = Counter(label: "heliograph_gateway_deliveries_total")
    static let violations = Counter(label: "heliograph_gateway_protocol_violations_total")
    static let connections = Gauge(label: "heliograph_gateway_connections")
    static let sessions = Gauge(label: "heliograph_gateway_sessions")
    static let channels = Gauge(label: "heliograph_gateway_channels")
    /// Resumes that ended because the events of the session's channel could not be had.
    static let abandonedResumes = Counter(label: "heliograph_gateway_abandoned_resumes_total")
}
