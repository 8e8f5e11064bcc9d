internal import ServiceMetrics

/// What the server API counts. All of it is declared with ``shared``, so that everything is shown from the start.
struct APIMetrics: Sendable {
    /// The metrics of this process.
    static let shared = APIMetrics()

    let requests = Counter("heliograph_gateway_api_requests_total", "Requests of the server API.")
    let duration = Histogram(
        "heliograph_gateway_api_request_duration_seconds",
        "Time from the head of a request of the server API to its answer.")
    let messages = Counter("heliograph_gateway_api_messages_total", "Messages that apps' servers have sent.")
    let refused = Counter("heliograph_gateway_api_refused_total", "Requests of the server API answered with 4xx.")
    let failed = Counter("heliograph_gateway_api_failures_total", "Requests of the server API answered with 5xx.")
    let unauthenticated = Counter(
        "heliograph_gateway_api_unauthenticated_total", "Requests of the server API without a valid key.")
    let streams = Gauge("heliograph_gateway_api_streams", "Streams of events that are open.")
    let connections = Gauge("heliograph_gateway_api_connections", "Connections to the server API that are open.")
    let turnedAway = Counter(
        "heliograph_gateway_api_connections_refused_total",
        "Connections to the server API that were closed at once, for want of a place or because their address had its number."
    )
    let evicted = Counter(
        "heliograph_gateway_api_connections_evicted_total",
        "Connections to the server API that waited for a request and were closed, so that a new one has a place.")
    let stalled = Counter(
        "heliograph_gateway_api_connections_stalled_total",
        "Connections to the server API that were closed because the client had taken nothing of its answers for 30 s.")
    let bodyBytes = Gauge(
        "heliograph_gateway_api_body_bytes", "Bytes that are set aside for bodies of requests in progress.")
    let bodiesRefused = Counter(
        "heliograph_gateway_api_bodies_refused_total",
        "Requests of the server API that were refused because too many bytes of bodies were in progress.")
    let actsDelayed = Counter(
        "heliograph_gateway_api_acts_delayed_total",
        "Requests of the server API that waited for others of the same key to end.")
    let limited = Counter(
        "heliograph_gateway_api_rate_limited_total", "Requests of the server API over their key's rate.")
}
