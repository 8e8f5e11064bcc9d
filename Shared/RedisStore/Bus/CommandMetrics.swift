internal import Metrics
internal import SignalingProtocol

/// The metrics of a service's command consumer. Created once, because looking one up per command costs more than counting.
struct CommandMetrics: Sendable {
    private struct Operation {
        let handled: Counter
        let failed: Counter
        let duration: Metrics.Timer
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
    /// The lengths of the streams: entries that wait or are being handled.
    let backlogs: [Gauge]
    private let operations: [String: Operation]

    /// - Parameter streams: the label values for the service's streams, in their order.
    init(service: ServiceName, streams: [String], operations names: some Sequence<String>) {
        let service = ("service", service.rawValue)
        setAside = Counter(label: "heliograph_commands_set_aside", dimensions: [service])
        tooLong = Counter(label: "heliograph_replies_too_long", dimensions: [service])
        backlogs = streams.map {
            Gauge(label: "heliograph_commands_backlog", dimensions: [service, ("stream", $0)])
        }
        expired = Counter(label: "heliograph_commands_expired", dimensions: [service])
        claimed = Counter(label: "heliograph_commands_claimed", dimensions: [service])
        retried = Counter(label: "heliograph_commands_retried", dimensions: [service])
        var operations: [String: Operation] = [:]
        for name in names {
            let dimensions = [service, ("operation", name)]
            operations[name] = Operation(
                handled: Counter(label: "heliograph_commands_handled", dimensions: dimensions),
                failed: Counter(label: "heliograph_commands_failed", dimensions: dimensions),
                duration: Metrics.Timer(label: "heliograph_command_duration", dimensions: dimensions))
        }
        self.operations = operations
    }

    func handled(_ operation: String, succeeded: Bool, took duration: Duration) {
        guard let operation = operations[operation] else { return }
        operation.handled.increment()
        if !succeeded { operation.failed.increment() }
        operation.duration.recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }
}
