internal import ClusterState
internal import DequeModule
internal import Logging
internal import NIOCore
internal import ServiceMetrics

/// The commands of a ``RedisConnection`` that wait for the connection or for their
/// replies, and the bytes to be written.
///
/// Belongs to the connection's event loop; everything here runs on it.
///
/// As the pipeline of one node of a ``RedisClient`` (see ``NodeEvents``) it sends each command
/// once: a broken connection fails all commands, those that were not written with `UNSENT`, and the
/// cluster decides what becomes of them.
final class CommandPipeline {
    /// A command whose completion has not been called, or whose reply has not arrived.
    struct Pending {
        let command: RedisCommand
        /// When the wait for a connection, or for a reply on the current one, ends.
        var deadline: NIODeadline
        /// Until when the command may be sent again if its outcome is lost with a connection; nil for never.
        let repeatedUntil: NIODeadline?
        var isRetry = false
        /// Whether the command was completed with a timeout after it was written: its reply will
        /// still arrive and must be matched.
        var isGivenUp = false
        let completion: (Result<RedisValue, RedisError>) -> Void

        func isRepeated(_ now: NIODeadline) -> Bool { !isGivenUp && repeatedUntil.map { $0 > now } == true }
    }

    /// How often Redis is asked for its time, which also reveals a dead connection.
    private static let clockPause = Duration.seconds(2)

    let eventLoop: any EventLoop
    let configuration: RedisConfiguration
    /// The time limit of a command, converted once because every command needs it.
    let commandTimeout: TimeAmount
    let libraries: [RedisFunctionLibrary]
    let link: RedisLink
    let status: ConnectionStatus
    let logger: Logger
    let upkeep: LibraryUpkeep
    /// Set for the pipeline of one node of a cluster.
    let node: NodeEvents?
    private let functions: FunctionNames
    /// Keeps the answers to durable commands; nil when replicas do not matter.
    let replicaWait: ReplicaWait?
    /// Follows Redis' clock; nil on a connection that does not ask for the time.
    let clock: RedisClock?

    /// Commands to write once there is a connection.
    var waiting: Deque<Pending> = []
    /// Commands written on the connection, in the order in which their replies arrive.
    var written: Deque<Pending> = []
    var bytesPending = 0
    var outgoing = ByteBuffer()
    /// The number of commands at the end of `written` that are still in `outgoing`.
    var unflushed = 0
    private var flushScheduled = false
    /// Whether anything has come since the last ``checkSilence()``.
    var hasHeard = false
    /// How many checks in a row found that nothing has come though replies are due.
    var silentChecks = 0
    /// ``flush()`` as a task of the loop, created once so that a flush allocates nothing.
    private var flushTask: (@Sendable () -> Void)?
    /// Since when the link has been up; nil while it is not.
    var upSince: NIODeadline?
    /// Closures to call before the next write.
    private var writePreparations: [() -> Void] = []
    var timer: (deadline: NIODeadline, task: Scheduled<Void>)?
    private(set) var isClosed = false
    /// Calls whose function was missing on the server, while the libraries are being loaded again; nil otherwise.
    var awaitingLibraries: [Pending]?
    /// Calls made in the meantime, to be sent after those in `awaitingLibraries`.
    var behindLibraries: [Pending] = []
    private var clockTask: RepeatedTask?
    private(set) var connectedCallbacks: [@Sendable () -> Void] = []

    /// - Parameter clock: to be kept; nil for a connection that does not ask for the time.
    init(link: RedisLink, clock: RedisClock?, status: ConnectionStatus, node: NodeEvents? = nil) {
        configuration = link.configuration
        commandTimeout = TimeAmount(configuration.commandTimeout)
        self.link = link
        eventLoop = link.eventLoop
        libraries = link.libraries
        self.clock = clock
        self.status = status
        logger = link.logger
        functions = FunctionNames(libraries)
        upkeep = LibraryUpkeep(libraries, logger: logger)
        self.node = node
        replicaWait = configuration.replicas > 0 ? ReplicaWait(behind: link) : nil
    }

    func start() {
        guard !isClosed else { return }
        replicaWait?.start { [weak self] in self?.give($0) }
        link.start(owner: self)
        guard clock != nil else { return }
        let pipeline = NIOLoopBound(self, eventLoop: eventLoop)
        clockTask = eventLoop.scheduleRepeatedTask(initialDelay: .nextTick - .now(), delay: TimeAmount(Self.clockPause))
        { _ in
            pipeline.value.askTime()
        }
    }

    func close() {
        isClosed = true
        clockTask?.cancel()
        link.close()
        replicaWait?.close()
        failAll(node == nil ? .shutDown : .unsent)
        // The task retains this pipeline.
        flushTask = nil
    }

    func onConnected(_ callback: @escaping @Sendable () -> Void) {
        connectedCallbacks.append(callback)
        if link.isUp { callback() }
    }

    /// See ``RedisConnection/send(_:repeatedUntil:_:)``.
    func send(
        _ command: RedisCommand, repeatedUntil until: NIODeadline? = nil,
        _ completion: @escaping (Result<RedisValue, RedisError>) -> Void
    ) {
        guard !isClosed else { return completion(.failure(.shutDown)) }
        if node != nil, !link.isUp { return completion(.failure(.unsent)) }
        guard waiting.count + written.count + (replicaWait?.count ?? 0) < configuration.maxPendingCommands else {
            RedisMetrics.shared.pendingBoundHit.increment()
            return completion(.failure(.full("pending Redis commands", bound: configuration.maxPendingCommands)))
        }
        let bytes = command.byteEstimate
        guard bytesPending + bytes <= configuration.maxPendingBytes else {
            RedisMetrics.shared.pendingBoundHit.increment()
            return completion(.failure(.full("bytes of pending Redis commands", bound: configuration.maxPendingBytes)))
        }
        bytesPending += bytes
        let deadline = NIODeadline.now() + commandTimeout
        var pending = Pending(command: command, deadline: deadline, repeatedUntil: until, completion: completion)
        if !link.isUp {
            if let until { pending.deadline = until }
            waiting.append(pending)
        } else if awaitingLibraries != nil, command.isFunctionCall {
            behindLibraries.append(pending)
        } else {
            write(pending)
        }
        armTimer(min(deadline, until ?? deadline))
    }

    /// See ``RedisConnection/beforeWriting(_:)``.
    func beforeWriting(_ act: @escaping () -> Void) {
        writePreparations.append(act)
        scheduleFlush()
    }

    func write(_ pending: consuming Pending) {
        pending.command.encode(into: &outgoing, functions: functions)
        written.append(pending)
        unflushed += 1
        scheduleFlush()
    }

    private func scheduleFlush() {
        guard !flushScheduled else { return }
        flushScheduled = true
        if let node { return node.wantsFlush() }
        // Runs after everything else in this tick of the loop, so that one write carries all of it.
        eventLoop.execute(flushTask ?? makeFlushTask())
    }

    private func makeFlushTask() -> @Sendable () -> Void {
        let pipeline = NIOLoopBound(self, eventLoop: eventLoop)
        let task: @Sendable () -> Void = { pipeline.value.flush() }
        if !isClosed { flushTask = task }
        return task
    }

    /// Writes what the commands of this tick of the loop have left in `outgoing`.
    func flush() {
        let preparations = writePreparations
        writePreparations.removeAll(keepingCapacity: true)
        for prepare in preparations { prepare() }
        flushScheduled = false
        // Closures registered by these closures run before the next write.
        if !writePreparations.isEmpty { scheduleFlush() }
        guard unflushed > 0, link.isUp else { return }
        unflushed = 0
        link.write(outgoing)
        // Keeps the storage for the next write, because the socket usually has taken
        // everything; frees it after a burst.
        if outgoing.capacity > 1 << 20 { outgoing = ByteBuffer() } else { outgoing.clear() }
    }

    func complete(_ pending: Pending, _ result: Result<RedisValue, RedisError>) {
        guard !pending.isGivenUp else { return }
        bytesPending -= pending.command.byteEstimate
        pending.completion(result)
    }

    /// Completes commands whose answers were kept.
    func give(_ given: ReplicaWait.Given) {
        for (pending, result) in given { complete(pending, result) }
    }

    /// Checks whether replies are due and nothing has come; to be called every 250 ms.
    /// - Returns: true once, when this has been so for a second.
    func checkSilence() -> Bool {
        silentChecks = hasHeard || written.isEmpty ? 0 : silentChecks + 1
        hasHeard = false
        return silentChecks == 4
    }

    private func failAll(_ error: RedisError) {
        let lost = Array(written) + Array(waiting) + (awaitingLibraries ?? []) + behindLibraries
        written = []
        waiting = []
        awaitingLibraries = nil
        behindLibraries = []
        unflushed = 0
        outgoing.clear()
        for pending in lost { complete(pending, .failure(error)) }
    }

    private func askTime() {
        guard link.isUp else { return }
        let asked = ContinuousClock.now
        send(RedisCommand("TIME")) { [clock] result in
            if case .success(let time) = result { clock?.set(time, askedAt: asked) }
        }
        lookAfterLibraries()
    }

    func lookAfterLibraries() {
        upkeep.tick(self, record: node?.sendBySlot ?? { self.send($0, $1) })
    }
}
