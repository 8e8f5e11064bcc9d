internal import ClusterState
internal import Logging
internal import Metrics
internal import SignalingProtocol
internal import SignalingWire

/// Handles the entries of one command stream: runs the command, publishes the answer, acknowledges the entry.
struct EntryHandler: Sendable {
    let service: ServiceName
    let group: ConsumerGroup
    /// The stream's place among the consumer's.
    let place: Int
    /// Whether it is the service's stream of posts.
    let isPosts: Bool
    let router: CommandRouter
    let inFlight: EntriesInWork
    let metrics: CommandMetrics
    let logger: Logger
    /// Deliveries after which an entry that was never finished is set aside.
    let deliveryBound: Int
    /// Commands handled lately, so that one that is delivered again has no second effect in this process; nil where handlers
    /// recognise repetitions themselves.
    var recent: RecentCommands?
    /// Acknowledges entries in batches; nil where each is to be acknowledged before the next is handled.
    var acknowledger: EntryAcknowledger?

    /// The entry's name among those in flight.
    func name(of entry: StreamEntry) -> EntriesInWork.Name { EntriesInWork.Name(stream: place, id: entry.id) }

    /// Handles a command, from its entry to its answer. The entry is in ``inFlight``, and leaves it here.
    /// - Parameter deliveries: how often it has been delivered, this time included.
    /// - Returns: false when it stays on the stream, to be delivered again.
    @discardableResult
    func handle(_ entry: StreamEntry, deliveries: Int64 = 1) async -> Bool {
        defer { inFlight.remove(name(of: entry)) }
        guard let command = ReceivedCommand(entry) else {
            logger.error("an entry of the stream is no command", metadata: ["entry": "\(entry.id)"])
            // Where nobody else reads, nobody else can make sense of it.
            if recent != nil || deliveries >= deliveryBound { return await setAside(entry, "no command") }
            return false
        }
        let envelope = command.envelope
        if let deadline = envelope.deadline, let now = group.connection.clock.now, now > deadline {
            metrics.expired.increment()
            return await finish(entry)
        }
        if let recent, recent.contains(envelope.id) { return await finish(entry) }
        // It ended the processes that took it, or failed in each.
        if deliveries > deliveryBound { return await setAside(entry, envelope.operation) }
        return await perform(command, entry, deliveries)
    }

    private func perform(_ command: ReceivedCommand, _ entry: StreamEntry, _ deliveries: Int64) async -> Bool {
        let envelope = command.envelope
        let start = ContinuousClock.now
        let connections = group.connection.connectionCount
        let context = CommandContext(
            id: envelope.id, deadline: envelope.deadline?.milliseconds ?? 0, asker: envelope.from)
        let outcome = await router.handle(command, context)
        switch verdict(outcome.result, of: envelope, connections: connections) {
        case .done: break
        case .again(let isToBlame):
            metrics.retried.increment()
            if isToBlame, deliveries >= deliveryBound { return await setAside(entry, envelope.operation) }
            if !isToBlame { _ = try? await group.connection.execute(group.forgive(entry.id)) }
            return false
        }
        recent?.insert(envelope.id)
        let succeeded = (try? outcome.result.get()) != nil
        metrics.handled(envelope.operation, succeeded: succeeded, took: start.duration(to: .now))
        var last = outcome.then
        if let gateway = envelope.from { last.append(reply(outcome.result, of: envelope, to: gateway)) }
        return await finish(entry, after: last)
    }

    private enum Verdict {
        /// It was done, or refused for good.
        case done
        /// It stays pending and is delivered again.
        /// - Parameter isToBlame: whether the failure may be the command's own, so that it is given up after some deliveries.
        case again(isToBlame: Bool)
    }

    /// - Parameter connections: the number of the connection to Redis when the handler began.
    private func verdict(
        _ result: Result<[UInt8], SignalingError>, of envelope: CommandEnvelope, connections: Int
    ) -> Verdict {
        guard case .failure(let error) = result else { return .done }
        let isRedisLost = !group.connection.isConnected || group.connection.connectionCount != connections
        if error == .unavailable("redis"), isRedisLost { return .again(isToBlame: false) }
        // Who asks is told, and asks again or not. Nobody sees to a post but this service.
        guard isPosts else { return .done }
        switch error.reason {
        // A store that is away, other than Redis, which is there: its answer was an error, of which the command may be
        // the cause.
        case .unavailable: return .again(isToBlame: error == .unavailable("redis"))
        case .overloaded, .memoryFull: return .again(isToBlame: false)
        // Perhaps an instance of another version knows it.
        case .timeout, .unknownOperation: return envelope.deadline == nil ? .again(isToBlame: true) : .done
        default: return .done
        }
    }

    private func reply(
        _ result: Result<[UInt8], SignalingError>, of envelope: CommandEnvelope, to gateway: GatewayID
    ) -> RedisCommand {
        var result = result
        if case .success(let bytes) = result, bytes.count > Limits.replyBytes {
            metrics.tooLong.increment()
            logger.error(
                "an answer is too long to be given",
                metadata: ["operation": "\(envelope.operation)", "bytes": "\(bytes.count)"])
            result = .failure(
                SignalingError(.failed, .replyTooLong, "the answer is longer than \(Limits.replyBytes) bytes"))
        }
        return RedisCommand(
            "PUBLISH", .string(KeySpace.topic(gateway)), .bytes(GatewayEvent.reply(envelope.id, result).payload))
    }

    /// Moves an entry that fails on every instance to another stream; otherwise it would be delivered for ever.
    private func setAside(_ entry: StreamEntry, _ what: String) async -> Bool {
        let aside = KeySpace.setAside(service)
        let results = await group.connection.execute(group.setAside(entry, on: aside))
        guard case .success = results.last else { return false }
        metrics.setAside.increment()
        logger.error(
            "a command that no instance could handle was set aside",
            metadata: [
                "command": "\(what)", "entry": "\(entry.id)", "stream": "\(group.stream)", "kept": "\(aside)",
            ])
        return true
    }

    /// - Parameter last: to be sent before the entry is finished.
    private func finish(_ entry: StreamEntry, after last: [RedisCommand] = []) async -> Bool {
        if let acknowledger {
            acknowledger.finish(entry.id, after: last)
            return true
        }
        var isFinished = true
        for case .failure(let error) in await group.connection.execute(last + group.finish([entry.id])) {
            // The entry stays pending and is delivered again; its handler finds it done.
            isFinished = false
            logger.debug("could not acknowledge command", metadata: ["entry": "\(entry.id)", "error": "\(error)"])
        }
        return isFinished
    }
}
