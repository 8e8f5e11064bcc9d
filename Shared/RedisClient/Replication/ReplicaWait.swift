internal import DequeModule
internal import Logging
internal import NIOCore
internal import ServiceMetrics

/// Keeps the answers to a pipeline's durable commands until enough replicas have what the commands wrote; carries out
/// what ``ReplicationGate`` decides.
///
/// The server is asked (`PING`, `WAIT`) over a connection of its own, because while WAIT waits, the server carries out
/// nothing else that comes over the same connection. It covers the commands' connection too: a server counts the writes
/// of all its clients together, and WAIT waits for the number at the end of its own client's last command, which is the
/// PING. The connection is opened for the first durable command, and both connections must end at the same server.
///
/// Belongs to the pipeline's event loop; everything here runs on it.
final class ReplicaWait {
    /// Answers that are passed on.
    typealias Given = [(pending: CommandPipeline.Pending, result: Result<RedisValue, RedisError>)]

    private struct Kept {
        let pending: CommandPipeline.Pending
        let reply: RedisValue
        let since: NIODeadline
    }

    /// The number of the commands' connection in ``ends``.
    private static let commandEnd: LinkEnds.Link = 0
    /// The number of this object's connection in ``ends``.
    private static let ownEnd: LinkEnds.Link = 1

    /// The commands' connection. It outlives this.
    private unowned let commandLink: RedisLink
    private let link: RedisLink
    private let limit: TimeAmount
    private let logger: Logger
    private var gate: ReplicationGate
    private var kept: Deque<Kept> = []
    private var ends = LinkEnds()
    private var hasStarted = false
    /// Whether the last answers failed; the first failure of a series is logged.
    private var isFailing = false
    /// Passes answers on; nil once closed.
    private var give: ((Given) -> Void)?

    /// - Parameter commandLink: the commands' connection, before it is started.
    init(behind commandLink: RedisLink) {
        let configuration = commandLink.configuration
        var logger = commandLink.logger
        logger[metadataKey: "connection"] = "replicas"
        self.commandLink = commandLink
        self.logger = logger
        limit = TimeAmount(configuration.replicaTimeout)
        gate = ReplicationGate(replicas: configuration.replicas)
        link = RedisLink(
            configuration: configuration, eventLoop: commandLink.eventLoop, libraries: [], asksTime: false,
            logger: logger)
        commandLink.addCheck { [weak self] identity in
            self?.opened(Self.commandEnd, identity)
            return nil
        }
        link.addCheck { [weak self] identity in
            if let refusal = identity.refusal { return refusal }
            self?.opened(Self.ownEnd, identity)
            return nil
        }
    }

    /// The number of answers that are kept.
    var count: Int { gate.count }

    /// When the first of them fails; nil when there are none.
    var nextDeadline: NIODeadline? { gate.nextDeadline }

    /// Says who passes answers on that come from this object's connection. To be called once,
    /// before the first answer is kept.
    func start(_ give: @escaping (Given) -> Void) { self.give = give }

    func close() {
        give = nil
        link.close()
    }

    /// Keeps an answer. ``ask()`` is to be called soon.
    /// - Returns: when it fails.
    func keep(_ pending: CommandPipeline.Pending, _ reply: RedisValue) -> NIODeadline {
        let now = NIODeadline.now()
        kept.append(Kept(pending: pending, reply: reply, since: now))
        gate.keep(until: now + limit)
        return now + limit
    }

    /// Asks the server, if there is something to ask.
    func ask() {
        guard gate.count > 0 else { return }
        guard link.isUp else {
            if !hasStarted {
                hasStarted = true
                link.start(owner: self)
            }
            return
        }
        guard let limit = gate.ask(.now()) else { return }
        var buffer = ByteBuffer()
        RedisCommand("PING").encode(into: &buffer)
        RedisCommand("WAIT", .int(gate.replicas), .int64(limit)).encode(into: &buffer)
        link.write(buffer)
    }

    /// The answers that have been kept too long, as failures.
    func expired(_ now: NIODeadline) -> Given {
        let given = take(gate.expire(now), isReplicated: false)
        if gate.isOverdue(now) { link.drop(.timeout) }
        return given
    }

    /// The commands' connection has been closed.
    /// - Returns: the commands whose answers were kept, in their order.
    func takeAll() -> [CommandPipeline.Pending] {
        ends.closed(Self.commandEnd)
        let pending = kept.map(\.pending)
        kept.removeAll()
        gate.forget()
        // The server does not answer, or is another one soon.
        if gate.isAsking { link.drop(.closed) }
        return pending
    }

    private func opened(_ end: LinkEnds.Link, _ identity: ServerIdentity) {
        for other in ends.opened(end, runID: identity.runID) {
            logger.info("commands and the question about replicas ended at different Redis servers; connecting anew")
            (other == Self.ownEnd ? link : commandLink).drop(.elsewhere)
        }
    }

    /// Removes the answers that have been kept longest.
    private func take(_ count: Int, isReplicated: Bool) -> Given {
        guard count > 0 else { return [] }
        let taken = Array(kept.prefix(count))
        kept.removeFirst(count)
        log(isReplicated)
        if isReplicated {
            let now = NIODeadline.now()
            let waits = RedisMetrics.shared.replication
            for answer in taken { waits.record(nanoseconds: (now - answer.since).nanoseconds) }
        } else {
            RedisMetrics.shared.unreplicated.increment(by: count)
        }
        return taken.map { ($0.pending, isReplicated ? .success($0.reply) : .failure(.unreplicated(gate.replicas))) }
    }

    /// One line at the first failure, and one at its end.
    private func log(_ isReplicated: Bool) {
        guard isReplicated == isFailing else { return }
        isFailing = !isReplicated
        if isReplicated {
            logger.info("replicas of Redis acknowledge writes again")
        } else {
            logger.warning(
                "too few replicas of Redis acknowledge writes; messages, calls and ends of sessions fail",
                metadata: ["needed": "\(gate.replicas)"])
        }
    }
}

extension ReplicaWait: RedisLinkOwner {
    func makeBuilder() -> ReplyBuilder { ReplyBuilder() }

    func linkUp() { ask() }

    func linkReceived(_ reply: RedisValue) {
        switch reply {
        case .integer(let number):
            let verdict = gate.answered(number)
            let given = take(verdict.count, isReplicated: verdict.isReplicated)
            ask()
            give?(given)
        // A server that is being made a replica refuses WAIT.
        case .error(let error): link.drop(error)
        // The answer to PING.
        default: break
        }
    }

    func linkDown(_ error: RedisError) {
        ends.closed(Self.ownEnd)
        give?(take(gate.lost().count, isReplicated: false))
    }

    func linkHeard(time: RedisValue, askedAt: ContinuousClock.Instant) {}

    func linkReadEnded() {}
}
