internal import ServiceMetrics

/// What the pools of this process count.
struct PostgresMetrics: Sendable {
    /// What all pools count but those with a purpose of their own.
    static let shared = PostgresMetrics()
    /// What the pool for lists counts, with the label `pool`.
    private static let lists = PostgresMetrics(labels: ["pool": "lists"])

    /// The metrics of the pools with a purpose.
    static func of(_ purpose: PostgresPool.Purpose) -> PostgresMetrics {
        switch purpose {
        case .general: shared
        case .lists: lists
        }
    }

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

    let connects: Counter
    let connectFailures: Counter
    let queries: Histogram
    let failures: CounterSet<Failure>
    let breakerOpen: Gauge
    let breakerOpened: Counter
    let breakerRefused: Counter
    let waiting: Gauge
    let idle: Gauge

    private init(labels: KeyValuePairs<String, String> = [:]) {
        connects = Counter("heliograph_postgres_connects_total", "Connections opened to PostgreSQL.", labels: labels)
        connectFailures = Counter(
            "heliograph_postgres_connect_failures_total", "Connections to PostgreSQL that could not be opened.",
            labels: labels)
        queries = Histogram(
            "heliograph_postgres_query_seconds", "Duration of queries, including the wait for a free connection.",
            labels: labels)
        failures = CounterSet<Failure>(
            "heliograph_postgres_query_failures_total", "Queries that failed, by why.", label: "reason",
            and: labels.first.map { (name: $0.key, value: $0.value) })
        breakerOpen = Gauge(
            "heliograph_postgres_breaker_open", "1 while PostgreSQL does not answer and queries fail at once, else 0.",
            labels: labels)
        breakerOpened = Counter(
            "heliograph_postgres_breaker_opened_total", "Times that queries began to fail at once.", labels: labels)
        breakerRefused = Counter(
            "heliograph_postgres_breaker_refused_total",
            "Queries that failed at once because PostgreSQL did not answer.",
            labels: labels)
        waiting = Gauge(
            "heliograph_postgres_waiting_queries", "Queries that wait for a free connection.", labels: labels)
        idle = Gauge(
            "heliograph_postgres_idle_connections", "Connections of the pool that no query uses.", labels: labels)
    }
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
