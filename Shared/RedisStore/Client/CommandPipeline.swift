internal import ClusterState
internal import DequeModule
internal import Logging
internal import NIOCore

/// The commands of a ``RedisConnection`` that wait for the connection or for their answers, and what is to be written.
///
/// Belongs to the connection's event loop, on which everything here happens.
final class CommandPipeline {
    /// What one command waits for.
    struct Pending {
        let command: RedisCommand
        /// The end of its wait for a connection, or for an answer on this one.
        var deadline: NIODeadline
        /// Until when it is sent again when its outcome is lost with a connection; nil for never.
        let repeatedUntil: NIODeadline?
        var isRetry = false
        /// Given up while it stood on a connection: its answer is still to come there.
        var isGivenUp = false
        let completion: (Result<RedisValue, RedisError>) -> Void

        func isRepeated(_ now: NIODeadline) -> Bool { !isGivenUp && repeatedUntil.map { $0 > now } == true }
    }

    /// How often Redis is asked for its time, which also shows a connection that is dead.
    private static let clockPause = TimeAmount.seconds(2)

    let eventLoop: any EventLoop
    let configuration: RedisConfiguration
    let libraries: [RedisFunctionLibrary]
    let link: RedisLink
    let status: ConnectionStatus
    let logger: Logger
    let upkeep: LibraryUpkeep
    private let functions: FunctionNames
    /// Takes Redis' time; nil on a connection that does not ask for it.
    let clock: RedisClock?

    /// Commands that are to be written when there is a connection.
    var waiting: Deque<Pending> = []
    /// Commands on the connection, in the order in which their answers come.
    var written: Deque<Pending> = []
    var bytesPending = 0
    var outgoing = ByteBuffer()
    /// How many at the end of `written` are still in `outgoing`.
    var unflushed = 0
    private var flushScheduled = false
    /// ``flush()`` as a task of the loop, made once: a tick allocates nothing for it.
    private var flushTask: (@Sendable () -> Void)?
    /// To be called before the next write.
    private var writePreparations: [() -> Void] = []
    var timer: (deadline: NIODeadline, task: Scheduled<Void>)?
    private(set) var isClosed = false
    /// Calls that found their function missing, until the libraries are loaded again; nil when that is not under way.
    var awaitingLibraries: [Pending]?
    /// Calls that were made meanwhile: they stay behind those.
    var behindLibraries: [Pending] = []
    private var clockTask: RepeatedTask?
    private(set) var connectedCallbacks: [@Sendable () -> Void] = []

    init(
        configuration: RedisConfiguration, link: RedisLink, libraries: [RedisFunctionLibrary], clock: RedisClock?,
        status: ConnectionStatus, logger: Logger
    ) {
        self.configuration = configuration
        self.link = link
        eventLoop = link.eventLoop
        self.libraries = libraries
        self.clock = clock
        self.status = status
        self.logger = logger
        functions = FunctionNames(libraries)
        upkeep = LibraryUpkeep(libraries, logger: logger)
    }

    func start() {
        guard !isClosed else { return }
        link.start(owner: self)
        guard clock != nil else { return }
        let pipeline = NIOLoopBound(self, eventLoop: eventLoop)
        clockTask = eventLoop.scheduleRepeatedTask(initialDelay: .nextTick - .now(), delay: Self.clockPause) { _ in
            pipeline.value.askTime()
        }
    }

    func close() {
        isClosed = true
        clockTask?.cancel()
        link.close()
        failAll(.shutDown)
        // It holds this pipeline.
        flushTask = nil
    }

    func onConnected(_ callback: @escaping @Sendable () -> Void) {
        connectedCallbacks.append(callback)
        if link.isUp { callback() }
    }

    /// As ``RedisConnection/send(_:repeatedUntil:_:)`` says.
    func send(
        _ command: RedisCommand, repeatedUntil until: NIODeadline? = nil,
        _ completion: @escaping (Result<RedisValue, RedisError>) -> Void
    ) {
        guard !isClosed else { return completion(.failure(.shutDown)) }
        guard waiting.count + written.count < configuration.maxPendingCommands else {
            return completion(.failure(.full("pending Redis commands", bound: configuration.maxPendingCommands)))
        }
        let bytes = command.byteEstimate
        guard bytesPending + bytes <= configuration.maxPendingBytes else {
            return completion(.failure(.full("bytes of pending Redis commands", bound: configuration.maxPendingBytes)))
        }
        bytesPending += bytes
        let deadline = NIODeadline.now() + configuration.commandTimeout
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

    /// As ``RedisConnection/beforeWriting(_:)`` says.
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
        // Runs after all that this tick brings: one write carries it.
        eventLoop.execute(flushTask ?? makeFlushTask())
    }

    private func makeFlushTask() -> @Sendable () -> Void {
        let pipeline = NIOLoopBound(self, eventLoop: eventLoop)
        let task: @Sendable () -> Void = { pipeline.value.flush() }
        if !isClosed { flushTask = task }
        return task
    }

    private func flush() {
        let preparations = writePreparations
        writePreparations.removeAll(keepingCapacity: true)
        for prepare in preparations { prepare() }
        flushScheduled = false
        // What was asked for meanwhile has its turn after this write.
        if !writePreparations.isEmpty { scheduleFlush() }
        guard unflushed > 0, link.isUp else { return }
        unflushed = 0
        link.write(outgoing)
        // Reuses the storage when the socket has taken everything, which is the usual case; a burst's is given back.
        if outgoing.capacity > 1 << 20 { outgoing = ByteBuffer() } else { outgoing.clear() }
    }

    func complete(_ pending: Pending, _ result: Result<RedisValue, RedisError>) {
        guard !pending.isGivenUp else { return }
        bytesPending -= pending.command.byteEstimate
        pending.completion(result)
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
        upkeep.tick(self)
    }
}
