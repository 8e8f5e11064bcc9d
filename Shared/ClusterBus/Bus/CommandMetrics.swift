internal import ServiceMetrics
internal import SignalingProtocol

/// What a service's command consumer counts. Created once, because looking a metric up per
/// command costs more than counting.
struct CommandMetrics: Sendable {
    private struct Operation {
        let handled: Counter
        let failed: Counter
        let duration: Histogram
    }

    /// Commands dropped after their deadline.
    let expired: Counter
    /// Commands taken over from a consumer that stopped responding.
    let claimed: Counter
    /// Commands left on the stream after a failure, to be delivered again.
    let retried: Counter
    /// Commands moved off the stream because no instance could handle them.
    let setAside: Counter
    /// Replies that were too long to send.
    let tooLong: Counter
    /// The state of each stream.
    let streams: [Stream]
    private let operations: [String: Operation]

    /// A stream of commands, all partitions together.
    struct Stream: Sendable {
        /// Entries that wait or are being handled.
        let backlog: Gauge
        /// The age of the oldest of them.
        let oldest: Gauge

        init(_ service: ServiceName, _ stream: String) {
            backlog = Gauge(
                "heliograph_commands_backlog", "Commands of a service that wait or are being handled, by stream.",
                labels: ["service": service.rawValue, "stream": stream])
            oldest = Gauge(
                "heliograph_commands_oldest_age_seconds",
                "Age of the oldest command of a service that waits or is being handled, by stream.",
                labels: ["service": service.rawValue, "stream": stream])
        }
    }

    /// - Parameter streams: the label values for the service's streams, in their order.
    init(service: ServiceName, streams: [String], operations names: some Sequence<String>) {
        let label = service.rawValue
        setAside = Counter(
            "heliograph_commands_set_aside_total",
            "Commands moved to dead:SERVICE because no instance could handle them.", labels: ["service": label])
        tooLong = Counter(
            "heliograph_replies_too_long_total", "Replies over 4 MiB, replaced by the error reply_too_long.",
            labels: ["service": label])
        self.streams = streams.map { Stream(service, $0) }
        expired = Counter(
            "heliograph_commands_expired_total", "Commands dropped because their deadline had passed.",
            labels: ["service": label])
        claimed = Counter(
            "heliograph_commands_claimed_total", "Commands taken over from an instance that stopped responding.",
            labels: ["service": label])
        retried = Counter(
            "heliograph_commands_retried_total", "Commands left on their stream after a failure.",
            labels: ["service": label])
        var operations: [String: Operation] = [:]
        for name in names { operations[name] = Self.operation(name, of: label) }
        self.operations = operations
    }

    private static func operation(_ name: String, of service: String) -> Operation {
        let labels: KeyValuePairs = ["service": service, "operation": name]
        return Operation(
            handled: Counter("heliograph_commands_handled_total", "Commands that were answered.", labels: labels),
            failed: Counter(
                "heliograph_commands_failed_total", "Commands that were answered with an error.", labels: labels),
            duration: Histogram(
                "heliograph_command_duration_seconds", "Time from reading a command to its answer.", labels: labels))
    }

    func handled(_ operation: String, succeeded: Bool, took duration: Duration) {
        guard let operation = operations[operation] else { return }
        operation.handled.increment()
        if !succeeded { operation.failed.increment() }
        operation.duration.record(duration)
    }
}
