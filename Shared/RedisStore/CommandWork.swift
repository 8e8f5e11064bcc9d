internal import Logging
internal import Metrics
internal import SignalingProtocol
internal import SignalingWire

/// Handles the entries of a command stream, one at a time each.
struct CommandWork: Sendable {
    let group: ConsumerGroup
    let router: CommandRouter
    let inFlight: InFlightEntries
    let metrics: CommandMetrics
    let logger: Logger
    /// What was handled lately, where a command is to take effect once in this process; nil where handlers see to it.
    var recent: RecentCommands?
    let clock = RedisClock()

    /// From the entry to the answer. The entry is in `inFlight`, and leaves it here.
    /// - Returns: false when it stays on the stream, to be delivered again.
    @discardableResult
    func handle(_ entry: StreamEntry) async -> Bool {
        defer { inFlight.remove(entry.id) }
        guard let envelope = CommandEnvelope(entry) else {
            logger.error("an entry of the stream is no command", metadata: ["entry": "\(entry.id)"])
            return await finish(entry, answer: nil)
        }
        let deadline = envelope.timeToLive == 0 ? 0 : entry.milliseconds + envelope.timeToLive
        if deadline != 0, let now = clock.now, now > deadline {
            metrics.expired.increment()
            return await finish(entry, answer: nil)
        }
        if let recent, recent.contains(envelope.id) { return await finish(entry, answer: nil) }
        let start = ContinuousClock.now
        let connections = group.connection.connectionCount
        let context = CommandContext(id: envelope.id, deadline: deadline)
        let outcome = await router.handle(envelope, context)
        if isWorthRetrying(outcome, deadline: deadline, connections: connections) {
            metrics.retried.increment()
            return false
        }
        recent?.insert(envelope.id)
        let succeeded = (try? outcome.get()) != nil
        metrics.handled(envelope.operation, succeeded: succeeded, took: start.duration(to: .now))
        let answer = envelope.from.map { gateway in
            RedisCommand(
                "PUBLISH", .string(KeySpace.topic(gateway)),
                .bytes(GatewayEvent.reply(envelope.id, outcome).payload))
        }
        return await finish(entry, answer: answer)
    }

    /// Whether the handler failed because Redis went away underway: the entry then stays pending and is delivered again.
    private func isWorthRetrying(_ outcome: Result<[UInt8], SignalingError>, deadline: Int64, connections: Int) -> Bool
    {
        guard case .failure(let error) = outcome, error == .unavailable("redis"), deadline != 0 else { return false }
        return !group.connection.isConnected || group.connection.connectionCount != connections
    }

    private func finish(_ entry: StreamEntry, answer: RedisCommand?) async -> Bool {
        let commands = (answer.map { [$0] } ?? []) + group.finish([entry.id])
        var isFinished = true
        for case .failure(let error) in await group.connection.execute(commands) {
            // The entry stays pending and is delivered again; its handler finds it done.
            isFinished = false
            logger.debug("a command could not be finished", metadata: ["entry": "\(entry.id)", "error": "\(error)"])
        }
        return isFinished
    }
}
