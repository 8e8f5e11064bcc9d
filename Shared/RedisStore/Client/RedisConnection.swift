package import ClusterState
internal import DequeModule
package import Logging
package import NIOCore
internal import Synchronization

/// A connection for commands that renews itself.
///
/// All commands of one tick of the event loop leave in one write; answers come back in order. While there is no
/// connection, commands wait (bounded in number, bytes and time). A command that was written when the connection broke
/// fails with `CLOSED`: its outcome is unknown, and it is sent again only where the sender said that it may be. A
/// connection that leaves a command unanswered for the command timeout is dropped and made anew.
///
/// `@unchecked Sendable`: the state is used on ``eventLoop`` only; the two flags are atomic.
package final class RedisConnection: @unchecked Sendable {
    /// What one command waits for.
    private struct Pending {
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
    /// Deadlines are looked at so often at most.
    private static let deadlineStep = TimeAmount.milliseconds(20)

    /// The loop of ``send(_:repeatedUntil:_:)`` and of all callbacks.
    package let eventLoop: any EventLoop
    /// Redis' clock: asked for with each connect, and every two seconds.
    package let clock = RedisClock()
    private let configuration: RedisConfiguration
    private let libraries: [RedisFunctionLibrary]
    private let functions: FunctionNames
    private let upkeep: LibraryUpkeep
    private let logger: Logger
    private let link: RedisLink
    private let up = Atomic<Bool>(false)
    private let connections = Atomic<Int>(0)

    private var waiting: Deque<Pending> = []
    private var written: Deque<Pending> = []
    private var bytesPending = 0
    private var outgoing = ByteBuffer()
    /// How many at the end of `written` are still in `outgoing`.
    private var unflushed = 0
    private var flushScheduled = false
    private var gatherers: [() -> Void] = []
    private var timer: (deadline: NIODeadline, task: Scheduled<Void>)?
    private var isClosed = false
    /// Calls that found their function missing, until the libraries are loaded again; nil when that is not under way.
    private var awaitingLibraries: [Pending]?
    /// Calls that were made meanwhile: they stay behind those.
    private var behindLibraries: [Pending] = []
    private let keepsClock: Bool
    private var clockTask: RepeatedTask?
    private var connectedCallbacks: [@Sendable () -> Void] = []

    /// Makes a connection; ``start()`` opens it.
    /// - Parameters:
    ///   - libraries: loaded at each connect, and again when a call finds its function missing.
    ///   - keepsClock: whether to ask for Redis' time; default true. Not where a command may block.
    package init(
        configuration: RedisConfiguration, eventLoop: any EventLoop, libraries: [RedisFunctionLibrary] = [],
        keepsClock: Bool = true, logger: Logger
    ) {
        self.keepsClock = keepsClock
        self.eventLoop = eventLoop
        self.configuration = configuration
        self.libraries = libraries
        functions = FunctionNames(libraries)
        upkeep = LibraryUpkeep(libraries, logger: logger)
        self.logger = logger
        link = RedisLink(
            configuration: configuration, eventLoop: eventLoop, libraries: libraries, asksTime: keepsClock,
            logger: logger)
    }

    /// Begins to connect, and keeps doing so until ``close()``. From any thread.
    package func start() {
        eventLoop.execute {
            self.link.start(owner: self)
            guard self.keepsClock, !self.isClosed else { return }
            self.clockTask = self.eventLoop.scheduleRepeatedTask(
                initialDelay: .nextTick - .now(), delay: Self.clockPause
            ) { _ in self.askTime() }
        }
    }

    /// Closes; commands that wait fail with `CLOSED`, later ones too. From any thread.
    package func close() async {
        await withCheckedContinuation { continuation in
            eventLoop.execute {
                self.isClosed = true
                self.clockTask?.cancel()
                self.link.close()
                self.failAll(.shutDown)
                continuation.resume()
            }
        }
    }

    /// Whether commands flow now. From any thread.
    package var isConnected: Bool { up.load(ordering: .acquiring) }

    /// How often the connection was made; a change tells that an outage lay between. From any thread.
    package var connectionCount: Int { connections.load(ordering: .acquiring) }

    /// Asks to be called after each connect, libraries loaded, and soon if connected already. From any thread; the
    /// callback comes on the loop.
    package func onConnected(_ callback: @escaping @Sendable () -> Void) {
        eventLoop.execute {
            self.connectedCallbacks.append(callback)
            if self.link.isUp { callback() }
        }
    }

    /// Sends a command; on ``eventLoop`` only. The completion comes there once, possibly before this returns (`FULL`,
    /// `CLOSED`); an error reply is a failure.
    /// - Parameter until: for a command that takes effect once however often it comes: it is sent again, in its place
    ///   among others of this kind, when a connection broke before the answer, and completes then at the latest. Default
    ///   nil: it is not, and its outcome is unknown.
    package func send(
        _ command: RedisCommand, repeatedUntil until: NIODeadline? = nil,
        _ completion: @escaping (Result<RedisValue, RedisError>) -> Void
    ) {
        eventLoop.assertInEventLoop()
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

    /// Has `act` called just before what this turn of the loop sent is written, to send more; on ``eventLoop`` only.
    package func beforeWriting(_ act: @escaping () -> Void) {
        eventLoop.assertInEventLoop()
        gatherers.append(act)
        scheduleFlush()
    }

    /// Sends a command from anywhere.
    /// - Throws: an error reply, `CLOSED`, `TIMEOUT` or `FULL`.
    package func execute(_ command: RedisCommand) async throws(RedisError) -> RedisValue {
        let result: Result<RedisValue, RedisError> = await withCheckedContinuation { continuation in
            onLoop { self.send(command) { continuation.resume(returning: $0) } }
        }
        return try result.get()
    }

    /// Sends commands from anywhere, in one write; they do not wait for each other.
    /// - Returns: one result per command, in order.
    package func execute(_ commands: [RedisCommand]) async -> [Result<RedisValue, RedisError>] {
        guard !commands.isEmpty else { return [] }
        return await withCheckedContinuation { continuation in
            onLoop {
                let gathering = Gathering(count: commands.count) { continuation.resume(returning: $0) }
                for (index, command) in commands.enumerated() { self.send(command) { gathering.set(index, $0) } }
            }
        }
    }

    private func onLoop(_ act: @escaping @Sendable () -> Void) {
        if eventLoop.inEventLoop { act() } else { eventLoop.execute(act) }
    }
}

// Writing.
extension RedisConnection {
    private func write(_ pending: consuming Pending) {
        pending.command.encode(into: &outgoing, functions: functions)
        written.append(pending)
        unflushed += 1
        scheduleFlush()
    }

    private func scheduleFlush() {
        guard !flushScheduled else { return }
        flushScheduled = true
        // Runs after all that this tick brings: one write carries it.
        eventLoop.execute { self.flush() }
    }

    private func flush() {
        let gathering = gatherers
        gatherers.removeAll(keepingCapacity: true)
        for act in gathering { act() }
        flushScheduled = false
        // What was asked for meanwhile has its turn after this write.
        if !gatherers.isEmpty { scheduleFlush() }
        guard unflushed > 0, link.isUp else { return }
        unflushed = 0
        link.write(outgoing)
        // Reuses the storage when the socket has taken everything, which is the usual case; a burst's is given back.
        if outgoing.capacity > 1 << 20 { outgoing = ByteBuffer() } else { outgoing.clear() }
    }

    private func complete(_ pending: Pending, _ result: Result<RedisValue, RedisError>) {
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
}

// Deadlines: one timer for all, because answers come in order and nearly every command has the same time.
extension RedisConnection {
    private func armTimer(_ deadline: NIODeadline) {
        if let timer {
            guard deadline < timer.deadline else { return }
            timer.task.cancel()
        }
        let task = eventLoop.scheduleTask(deadline: max(deadline, .now() + Self.deadlineStep)) { self.checkDeadlines() }
        timer = (deadline, task)
    }

    private func checkDeadlines() {
        timer = nil
        let now = NIODeadline.now()
        if waiting.contains(where: { $0.deadline <= now }) {
            let late = waiting.filter { $0.deadline <= now }
            waiting.removeAll { $0.deadline <= now }
            for pending in late { complete(pending, .failure(.timeout)) }
        }
        giveUpRepeated(now)
        if let first = written.first, first.deadline <= now {
            // What does not answer the first will not answer those behind it: begin anew.
            if !first.isRepeated(now) {
                written.removeFirst()
                unflushed = min(unflushed, written.count)
                // Before those behind it, which the drop fails.
                complete(first, .failure(.timeout))
            }
            link.drop(.timeout)
        }
        let ends = written.lazy.filter { !$0.isGivenUp }.compactMap(\.repeatedUntil)
        let next = [waiting.lazy.map(\.deadline).min(), written.first?.deadline, ends.min()].compactMap(\.self).min()
        if let next { armTimer(next) }
    }

    /// Those that stand on the connection past the time in which somebody waits for them.
    private func giveUpRepeated(_ now: NIODeadline) {
        for index in written.indices {
            guard let until = written[index].repeatedUntil, until <= now, !written[index].isGivenUp else { continue }
            let pending = written[index]
            written[index].isGivenUp = true
            complete(pending, .failure(.timeout))
        }
    }

    private func askTime() {
        guard link.isUp else { return }
        let asked = ContinuousClock.now
        send(RedisCommand("TIME")) { [clock] result in
            if case .success(let time) = result { clock.set(time, askedAt: asked) }
        }
        upkeep.tick(self)
    }
}

extension RedisConnection: RedisLinkOwner {
    func makeBuilder() -> ReplyBuilder { ReplyBuilder() }

    func linkReadEnded() {}

    func linkHeard(time: RedisValue, askedAt: ContinuousClock.Instant) { clock.set(time, askedAt: askedAt) }

    func linkUp() {
        connections.add(1, ordering: .acquiringAndReleasing)
        up.store(true, ordering: .releasing)
        let deadline = NIODeadline.now() + configuration.commandTimeout
        while var pending = waiting.popFirst() {
            if pending.repeatedUntil != nil { pending.deadline = deadline }
            write(pending)
        }
        for callback in connectedCallbacks { callback() }
        upkeep.tick(self)
    }

    func linkDown(_ error: RedisError) {
        up.store(false, ordering: .releasing)
        outgoing.clear()
        let now = NIODeadline.now()
        var lost: [Pending] = []
        var kept: [Pending] = []
        for (index, var pending) in written.enumerated() {
            // What never left this process may wait for the next connection, and so may what is sent again.
            let isUnwritten = index >= written.count - unflushed
            guard isUnwritten || pending.isRepeated(now) else {
                lost.append(pending)
                continue
            }
            if let until = pending.repeatedUntil { pending.deadline = until }
            kept.append(pending)
        }
        unflushed = 0
        waiting.prepend(contentsOf: kept)
        written = []
        for pending in lost { complete(pending, .failure(.closed)) }
        if let next = waiting.lazy.map(\.deadline).min() { armTimer(next) }
    }

    func linkReceived(_ reply: RedisValue) {
        guard let pending = written.popFirst() else {
            return link.drop(RedisError(code: .malformed, message: "an answer that nobody asked for"))
        }
        guard case .error(let error) = reply else { return complete(pending, .success(reply)) }
        let isCall = pending.command.isFunctionCall && !pending.isGivenUp
        if error.isFunctionMissing, isCall, !pending.isRetry, !libraries.isEmpty {
            reloadLibraries(for: pending)
        } else if error.code == .outOfMemory, pending.command.isVital, !pending.isGivenUp {
            bytesPending -= pending.command.byteEstimate
            send(pending.command.inFullRedis, repeatedUntil: pending.repeatedUntil, pending.completion)
        } else {
            complete(pending, .failure(error))
        }
    }

    /// Loads the libraries again (someone flushed them, or Redis came back empty behind a proxy), then repeats the calls,
    /// which had no effect, in their order, and then makes those that were held back meanwhile.
    private func reloadLibraries(for pending: Pending) {
        var pending = pending
        pending.isRetry = true
        if awaitingLibraries != nil {
            awaitingLibraries?.append(pending)
            return
        }
        awaitingLibraries = [pending]
        logger.warning("functions are missing from Redis, loading them again")
        let gathering = Gathering(count: libraries.count) { self.librariesLoaded($0) }
        for (index, library) in libraries.enumerated() { send(library.load) { gathering.set(index, $0) } }
    }

    private func librariesLoaded(_ results: [Result<RedisValue, RedisError>]) {
        let calls = awaitingLibraries ?? []
        let held = behindLibraries
        awaitingLibraries = nil
        behindLibraries = []
        let failure = results.lazy.compactMap { result -> RedisError? in
            if case .failure(let error) = result, !error.isLibraryThere { error } else { nil }
        }.first
        if link.isUp {
            for call in calls {
                if let failure { complete(call, .failure(failure)) } else { write(call) }
            }
            for call in held { write(call) }
        } else if isClosed {
            for call in calls + held { complete(call, .failure(.shutDown)) }
        } else {
            // A broken connection is mended with a handshake that loads the libraries: wait for it.
            waiting.append(contentsOf: calls + held)
            armTimer(.now())
        }
    }
}
