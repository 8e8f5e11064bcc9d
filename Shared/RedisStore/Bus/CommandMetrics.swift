internal import Metrics
internal import SignalingProtocol

/// The metrics of a service's command consumer; made once, because a lookup per command costs more than the count.
struct CommandMetrics: Sendable {
    private struct Operation {
        let handled: Counter
        let failed: Counter
        let duration: Metrics.Timer
    }

    /// Dropped past their deadline.
    let expired: Counter
    /// Taken over from a consumer that shows no life.
    let claimed: Counter
    /// Left for another delivery, because Redis went away underway.
    let retried: Counter
    /// Taken off the stream, because no instance could handle them.
    let setAside: Counter
    /// Answers that were too long to be given.
    let tooLong: Counter
    /// Entries that wait or are being handled, by stream.
    let backlogs: [Gauge]
    private let operations: [String: Operation]

    /// - Parameter streams: what the service's streams are called here, in their order.
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
