internal import BusProtocol
internal import ClusterState
internal import Logging
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Handles the entries of one command stream: runs the command, publishes the reply, acknowledges the entry.
struct EntryHandler: Sendable {
    let service: ServiceName
    let group: ConsumerGroup
    /// The index of the stream among the consumer's streams.
    let place: Int
    /// Whether it is the service's stream of commands without a reply (``PostedCommand``).
    let isPosts: Bool
    let router: CommandRouter
    let inFlight: EntriesInWork
    let metrics: CommandMetrics
    let logger: Logger
    /// The number of deliveries after which an unfinished entry is set aside.
    let deliveryBound: Int
    /// Recently handled commands, so that a redelivered one has no second effect in this process; nil where the
    /// handlers recognise repetitions themselves.
    var recent: RecentCommands?
    /// Acknowledges entries in batches; nil where each entry must be acknowledged before the next is handled.
    var acknowledger: EntryAcknowledger?

    /// The delivery at which a command that this release does not know is refused. Before, it is left
    /// to other instances, which may be of a newer release. The third delivery comes within 7 s,
    /// before the requester's deadline.
    private static let unknownRefusedAt: Int64 = 3

    /// Identifies the entry in ``inFlight``.
    func name(of entry: StreamEntry) -> EntriesInWork.Name { EntriesInWork.Name(stream: place, id: entry.id) }

    /// Handles one entry, from its command to the reply. The entry must be in ``inFlight`` and is removed from it.
    /// - Parameter deliveries: how often the entry has been delivered, including this time.
    /// - Returns: false when the entry stays on the stream, to be delivered again.
    @discardableResult
    func handle(_ entry: StreamEntry, deliveries: Int64 = 1) async -> Bool {
        defer { inFlight.remove(name(of: entry)) }
        guard let command = ReceivedCommand(entry) else {
            logger.error("a stream entry is not a command", metadata: ["entry": "\(entry.id)"])
            // An ordered stream has no other consumer that might understand the entry.
            if recent != nil || deliveries >= deliveryBound { return await setAside(entry, nil) }
            return false
        }
        let envelope = command.envelope
        if let deadline = envelope.deadline, let now = group.connection.clock(ofSlot: group.partition.slot)?.now,
            now > deadline
        {
            metrics.expired.increment()
            return await finish(entry)
        }
        if let recent, recent.contains(envelope.id) { return await finish(entry) }
        // Each earlier delivery crashed its process or failed.
        if deliveries > deliveryBound { return await setAside(entry, envelope) }
        return await perform(command, entry, deliveries)
    }

    private func perform(_ command: ReceivedCommand, _ entry: StreamEntry, _ deliveries: Int64) async -> Bool {
        let envelope = command.envelope
        let start = ContinuousClock.now
        let connections = group.connection.connectionCount
        let context = CommandContext(
            id: envelope.id, deadline: envelope.deadline, asker: envelope.from, cause: envelope.cause)
        let outcome = await router.handle(command, context)
        switch verdict(outcome.result, of: envelope, deliveries, connections: connections) {
        case .done: break
        case .again(let isToBlame):
            metrics.retried.increment()
            if isToBlame, deliveries >= deliveryBound { return await setAside(entry, envelope) }
            if !isToBlame { _ = try? await group.connection.execute(group.resetDeliveries(entry.id)) }
            return false
        }
        recent?.insert(envelope.id)
        let succeeded = (try? outcome.result.get()) != nil
        if case .failure(let error) = outcome.result { noteFailure(error, of: envelope) }
        metrics.handled(envelope.operation, succeeded: succeeded, took: start.duration(to: .now))
        var last = outcome.then
        if let gateway = envelope.from { last.append(reply(outcome.result, of: envelope, to: gateway)) }
        return await finish(entry, after: last)
    }

    /// Logs why a request's command was not carried out. The rate of the request's key bounds such lines; of clients'
    /// calls, whose commands have no request, an outage would cause too many.
    private func noteFailure(_ error: SignalingError, of envelope: CommandEnvelope) {
        guard envelope.cause.request != nil else { return }
        logger.about(envelope.cause, envelope.id).log(
            level: Self.faults.contains(error.reason) ? .warning : .debug, "a request's command has failed",
            metadata: ["operation": "\(envelope.operation)", "reason": "\(error.reason)", "error": "\(error.message)"])
    }

    /// Reasons that are no fault of the request.
    private static let faults: Set<SignalingReason> = [
        .timeout, .unavailable, .overloaded, .memoryFull, .refusedByPostgres, .unknownOperation,
    ]

    private enum Verdict {
        /// Handled, or refused permanently.
        case done
        /// Stays pending and is delivered again.
        /// - Parameter isToBlame: whether the command itself may be the cause; it is then
        ///   set aside after some deliveries.
        case again(isToBlame: Bool)
    }

    /// - Parameter connections: the connection count of the Redis connection when the handler began.
    private func verdict(
        _ result: Result<[UInt8], SignalingError>, of envelope: CommandEnvelope, _ deliveries: Int64, connections: Int
    ) -> Verdict {
        guard case .failure(let error) = result else { return .done }
        // A sip-bridge's own stream has no other consumer to leave the command to.
        if error.reason == .unknownOperation, recent == nil,
            deliveries < min(Self.unknownRefusedAt, Int64(deliveryBound))
        {
            return .again(isToBlame: true)
        }
        // Any master counts, because a command may concern several.
        let isRedisLost = !group.connection.isWhole || group.connection.connectionCount != connections
        if error == .unavailable("redis"), isRedisLost { return .again(isToBlame: false) }
        // A requester gets the error and decides whether to try again. Commands without a reply have
        // only this service to retry them.
        guard isPosts else { return .done }
        switch error.reason {
        // A store other than Redis is down. An error from Redis itself, which is connected here, may
        // instead be caused by the command.
        case .unavailable: return .again(isToBlame: error == .unavailable("redis"))
        case .overloaded, .memoryFull: return .again(isToBlame: false)
        case .timeout, .unknownOperation: return envelope.deadline == nil ? .again(isToBlame: true) : .done
        default: return .done
        }
    }

    private func reply(
        _ result: Result<[UInt8], SignalingError>, of envelope: CommandEnvelope, to asker: AskerID
    ) -> RedisCommand {
        var result = result
        if case .success(let bytes) = result, bytes.count > Limits.replyBytes {
            metrics.tooLong.increment()
            logger.about(envelope.cause, envelope.id).error(
                "a reply is too long; sending an error instead",
                metadata: ["operation": "\(envelope.operation)", "bytes": "\(bytes.count)"])
            result = .failure(
                SignalingError(.failed, .replyTooLong, "the answer is longer than \(Limits.replyBytes) bytes"))
        }
        return RedisCommand(
            group.connection.bus.publishing, key: KeySpace.topic(asker, in: group.partition),
            .bytes(GatewayEvent.reply(envelope.id, result).payload)
        ).inSlot(group.partition.slot)
    }

    /// Moves an entry that no instance can handle to another stream; otherwise it would be delivered for ever.
    /// - Parameter envelope: nil when the entry is no command.
    private func setAside(_ entry: StreamEntry, _ envelope: CommandEnvelope?) async -> Bool {
        let aside = KeySpace.setAside(service, in: group.partition)
        let results = await group.connection.execute(group.setAside(entry, on: aside))
        guard case .success = results.last else { return false }
        metrics.setAside.increment()
        let logger = envelope.map { self.logger.about($0.cause, $0.id) } ?? self.logger
        logger.error(
            "set aside a command that no instance could handle",
            metadata: [
                "operation": "\(envelope?.operation ?? "no command")", "entry": "\(entry.id)",
                "stream": "\(group.stream)", "kept": "\(aside)",
            ])
        return true
    }

    /// - Parameter last: commands to send before the entry is acknowledged.
    private func finish(_ entry: StreamEntry, after last: [RedisCommand] = []) async -> Bool {
        if let acknowledger {
            acknowledger.finish(entry.id, after: last)
            return true
        }
        var isFinished = true
        for case .failure(let error) in await group.connection.execute(last + group.finish([entry.id])) {
            // The entry stays pending and is delivered again; the handler then recognises the repetition.
            isFinished = false
            logger.debug("could not acknowledge command", metadata: ["entry": "\(entry.id)", "error": "\(error)"])
        }
        return isFinished
    }
}
