internal import ServiceMetrics

/// What the pools of this process count.
struct PostgresMetrics: Sendable {
    /// Those of this process.
    static let shared = PostgresMetrics()

    /// Why a query failed; the raw value is the metric's label.
    enum Failure: String, CaseIterable, Sendable {
        /// There was no connection, or it broke.
        case closed
        case timeout
        /// Too many queries waited for a connection.
        case full
        /// The request was at fault: a wrong value, a violated constraint.
        case data
        /// A lock was not free in time.
        case lock
        /// The server takes no writes.
        case readOnly = "read_only"
        case other
    }

    let connects = Counter("heliograph_postgres_connects_total", "Connections opened to PostgreSQL.")
    let connectFailures = Counter(
        "heliograph_postgres_connect_failures_total", "Connections to PostgreSQL that could not be opened.")
    let queries = Histogram(
        "heliograph_postgres_query_seconds", "Duration of queries, including the wait for a free connection.")
    let failures = CounterSet<Failure>(
        "heliograph_postgres_query_failures_total", "Queries that failed, by why.", label: "reason")
    let breakerOpen = Gauge(
        "heliograph_postgres_breaker_open", "1 while PostgreSQL does not answer and queries fail at once, else 0.")
    let breakerOpened = Counter(
        "heliograph_postgres_breaker_opened_total", "Times that queries began to fail at once.")
    let breakerRefused = Counter(
        "heliograph_postgres_breaker_refused_total", "Queries that failed at once because PostgreSQL did not answer.")
    let waiting = Gauge(
        "heliograph_postgres_waiting_queries", "Queries that wait for a free connection.")
    let idle = Gauge("heliograph_postgres_idle_connections", "Connections of the pool that no query uses.")
}

extension PostgresError {
    /// The error as it is counted.
    var counted: PostgresMetrics.Failure {
        switch kind {
        case .closed: .closed
        case .timeout: .timeout
        case .full: .full
        case .standby: .readOnly
        case .configuration, .nul, .shape, .migration: isDataError ? .data : .other
        case nil: isDataError ? .data : isLockConflict ? .lock : isReadOnly ? .readOnly : .other
        }
    }
}
