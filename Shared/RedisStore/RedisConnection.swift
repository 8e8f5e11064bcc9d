internal import DequeModule
public import Logging
public import NIOCore
internal import Synchronization

/// A connection for commands that renews itself.
///
/// All commands of one tick of the event loop leave in one write; answers come back in order. While there is no
/// connection, commands wait (bounded in number, bytes and time). A command that was written when the connection broke
/// fails with `CLOSED`: its outcome is unknown, and it is never sent again by itself.
///
/// `@unchecked Sendable`: the state is used on ``eventLoop`` only; the two flags are atomic.
public final class RedisConnection: @unchecked Sendable {
    /// What one command waits for.
    private struct Pending {
        let command: RedisCommand
        let deadline: NIODeadline
        var isRetry = false
        let completion: (Result<RedisValue, RedisError>) -> Void
    }

    /// The loop of ``send(_:_:)`` and of all callbacks.
    public let eventLoop: any EventLoop
    private let configuration: RedisConfiguration
    private let libraries: [RedisFunctionLibrary]
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
    private var timerArmed = false
    private var isClosed = false
    /// Calls that found their function missing, until the libraries are loaded again; nil when that is not under way.
    private var awaitingLibraries: [Pending]?
    private var connectedCallbacks: [@Sendable () -> Void] = []

    /// Makes a connection; ``start()`` opens it.
    /// - Parameter libraries: loaded at each connect, and again when a call finds its function missing.
    public init(
        configuration: RedisConfiguration, eventLoop: any EventLoop, libraries: [RedisFunctionLibrary] = [],
        logger: Logger
    ) {
        self.eventLoop = eventLoop
        self.configuration = configuration
        self.libraries = libraries
        self.logger = logger
        link = RedisLink(configuration: configuration, eventLoop: eventLoop, libraries: libraries, logger: logger)
    }

    /// Begins to connect, and keeps doing so until ``close()``. From any thread.
    public func start() {
        eventLoop.execute { self.link.start(owner: self) }
    }

    /// Closes; commands that wait fail with `CLOSED`, later ones too. From any thread.
    public func close() async {
        await withCheckedContinuation { continuation in
            eventLoop.execute {
                self.isClosed = true
                self.link.close()
                self.failAll(.shutDown)
                continuation.resume()
            }
        }
    }

    /// Whether commands flow now. From any thread.
    public var isConnected: Bool { up.load(ordering: .acquiring) }

    /// How often the connection was made; a change tells that an outage lay between. From any thread.
    public var connectionCount: Int { connections.load(ordering: .acquiring) }

    /// Asks to be called after each connect, libraries loaded, and soon if connected already. From any thread; the
    /// callback comes on the loop.
    public func onConnected(_ callback: @escaping @Sendable () -> Void) {
        eventLoop.execute {
            self.connectedCallbacks.append(callback)
            if self.link.isUp { callback() }
        }
    }

    /// Sends a command; on ``eventLoop`` only. The completion comes there once, possibly before this returns (`FULL`,
    /// `CLOSED`); an error reply is a failure.
    public func send(_ command: RedisCommand, _ completion: @escaping (Result<RedisValue, RedisError>) -> Void) {
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
        let pending = Pending(command: command, deadline: deadline, completion: completion)
        if link.isUp { write(pending) } else { waiting.append(pending) }
        armTimer(deadline)
    }

    /// Has `act` called just before what this turn of the loop sent is written, to send more; on ``eventLoop`` only.
    public func beforeWriting(_ act: @escaping () -> Void) {
        eventLoop.assertInEventLoop()
        gatherers.append(act)
        scheduleFlush()
    }

    /// Sends a command from anywhere.
    /// - Throws: an error reply, `CLOSED`, `TIMEOUT` or `FULL`.
    public func execute(_ command: RedisCommand) async throws(RedisError) -> RedisValue {
        let result: Result<RedisValue, RedisError> = await withCheckedContinuation { continuation in
            onLoop { self.send(command) { continuation.resume(returning: $0) } }
        }
        return try result.get()
    }

    /// Sends commands from anywhere, in one write; they do not wait for each other.
    /// - Returns: one result per command, in order.
    public func execute(_ commands: [RedisCommand]) async -> [Result<RedisValue, RedisError>] {
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
        pending.command.encode(into: &outgoing)
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
        bytesPending -= pending.command.byteEstimate
        pending.completion(result)
    }

    private func failAll(_ error: RedisError) {
        let lost = Array(written) + Array(waiting) + (awaitingLibraries ?? [])
        written = []
        waiting = []
        awaitingLibraries = nil
        unflushed = 0
        outgoing.clear()
        for pending in lost { complete(pending, .failure(error)) }
    }
}

// Deadlines: one timer for all, because answers come in order and every command has the same time.
extension RedisConnection {
    private func armTimer(_ deadline: NIODeadline) {
        guard !timerArmed else { return }
        timerArmed = true
        eventLoop.scheduleTask(deadline: deadline) { self.checkDeadlines() }
    }

    private func checkDeadlines() {
        timerArmed = false
        let now = NIODeadline.now()
        while let first = waiting.first, first.deadline <= now {
            waiting.removeFirst()
            complete(first, .failure(.timeout))
        }
        if let first = written.first, first.deadline <= now {
            // What does not answer the first will not answer those behind it: begin anew.
            written.removeFirst()
            unflushed = min(unflushed, written.count)
            link.drop(.timeout)
            complete(first, .failure(.timeout))
        }
        let next = [waiting.first?.deadline, written.first?.deadline].compactMap { $0 }.min()
        if let next { armTimer(next) }
    }
}

extension RedisConnection: RedisLinkOwner {
    func makeBuilder() -> ReplyBuilder { ReplyBuilder() }

    func linkReadEnded() {}

    func linkUp() {
        connections.add(1, ordering: .acquiringAndReleasing)
        up.store(true, ordering: .releasing)
        while let pending = waiting.popFirst() { write(pending) }
        for callback in connectedCallbacks { callback() }
    }

    func linkDown(_ error: RedisError) {
        up.store(false, ordering: .releasing)
        outgoing.clear()
        // What never left this process may wait for the next connection.
        let kept = written.suffix(unflushed)
        let lost = written.dropLast(unflushed)
        unflushed = 0
        waiting.prepend(contentsOf: Array(kept))
        written = []
        for pending in lost { complete(pending, .failure(.closed)) }
    }

    func linkReceived(_ reply: RedisValue) {
        guard let pending = written.popFirst() else {
            return link.drop(RedisError(code: "PROTOCOL", message: "an answer that nobody asked for"))
        }
        guard case .error(let error) = reply else { return complete(pending, .success(reply)) }
        if error.isFunctionMissing, pending.command.isFunctionCall, !pending.isRetry, !libraries.isEmpty {
            reloadLibraries(for: pending)
        } else {
            complete(pending, .failure(error))
        }
    }

    /// Loads the libraries again (someone flushed them, or Redis came back empty behind a proxy), then repeats the call,
    /// which had no effect. Its order among later commands is lost; callers that need order await each answer.
    private func reloadLibraries(for pending: Pending) {
        var pending = pending
        pending.isRetry = true
        if awaitingLibraries != nil {
            awaitingLibraries?.append(pending)
            return
        }
        awaitingLibraries = [pending]
        logger.warning("functions are missing from Redis, loading them again")
        let gathering = Gathering(count: libraries.count) { results in
            let calls = self.awaitingLibraries ?? []
            self.awaitingLibraries = nil
            for call in calls {
                if case .failure(let error)? = results.first(where: { (try? $0.get()) == nil }) {
                    // A broken connection is mended with a handshake that loads the libraries: wait for it.
                    if self.link.isUp || self.isClosed {
                        self.complete(call, .failure(error))
                    } else {
                        self.waiting.append(call)
                    }
                } else {
                    self.write(call)
                }
            }
        }
        for (index, library) in libraries.enumerated() { send(library.load) { gathering.set(index, $0) } }
    }
}
