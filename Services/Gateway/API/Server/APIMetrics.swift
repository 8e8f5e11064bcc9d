internal import ServiceMetrics

/// What the server API counts. All of it is declared with ``shared``, so that everything is shown from the start.
struct APIMetrics: Sendable {
    /// Those of this process.
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
    let limited = Counter(
        "heliograph_gateway_api_rate_limited_total", "Requests of the server API over their key's rate.")
}
