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
    /// Finishes entries by the dozen; nil where each is to be finished before the next is handled.
    var finishing: EntryFinishing?
    let clock = RedisClock()

    /// From the entry to the answer. The entry is in `inFlight`, and leaves it here.
    /// - Returns: false when it stays on the stream, to be delivered again.
    @discardableResult
    func handle(_ entry: StreamEntry) async -> Bool {
        defer { inFlight.remove(entry.id) }
        guard let envelope = CommandEnvelope(entry) else {
            logger.error("an entry of the stream is no command", metadata: ["entry": "\(entry.id)"])
            return await finish(entry)
        }
        let deadline = envelope.timeToLive == 0 ? 0 : entry.milliseconds + envelope.timeToLive
        if deadline != 0, let now = clock.now, now > deadline {
            metrics.expired.increment()
            return await finish(entry)
        }
        if let recent, recent.contains(envelope.id) { return await finish(entry) }
        let start = ContinuousClock.now
        let connections = group.connection.connectionCount
        let context = CommandContext(id: envelope.id, deadline: deadline)
        let outcome = await router.handle(envelope, context)
        if isWorthRetrying(outcome.result, deadline: deadline, connections: connections) {
            metrics.retried.increment()
            return false
        }
        recent?.insert(envelope.id)
        let succeeded = (try? outcome.result.get()) != nil
        metrics.handled(envelope.operation, succeeded: succeeded, took: start.duration(to: .now))
        var last = outcome.then
        if let gateway = envelope.from {
            last.append(
                RedisCommand(
                    "PUBLISH", .string(KeySpace.topic(gateway)),
                    .bytes(GatewayEvent.reply(envelope.id, outcome.result).payload)))
        }
        return await finish(entry, after: last)
    }

    /// Whether the handler failed because Redis went away underway: the entry then stays pending and is delivered again.
    private func isWorthRetrying(_ outcome: Result<[UInt8], SignalingError>, deadline: Int64, connections: Int) -> Bool
    {
        guard case .failure(let error) = outcome, error == .unavailable("redis"), deadline != 0 else { return false }
        return !group.connection.isConnected || group.connection.connectionCount != connections
    }

    /// - Parameter last: to be sent before the entry is finished.
    private func finish(_ entry: StreamEntry, after last: [RedisCommand] = []) async -> Bool {
        if let finishing {
            finishing.finish(entry.id, after: last)
            return true
        }
        var isFinished = true
        for case .failure(let error) in await group.connection.execute(last + group.finish([entry.id])) {
            // The entry stays pending and is delivered again; its handler finds it done.
            isFinished = false
            logger.debug("a command could not be finished", metadata: ["entry": "\(entry.id)", "error": "\(error)"])
        }
        return isFinished
    }
}
