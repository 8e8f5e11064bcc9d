package import ClusterState
package import Logging
package import NIOCore
internal import Synchronization

/// A connection for commands that reconnects by itself.
///
/// All commands sent in one tick of the event loop share one write; replies arrive in order. While there is no
/// connection, commands wait, with bounds on their number, size and time. A command that was written when the
/// connection broke fails with `CLOSED`: its outcome is unknown, and it is sent again only where the sender has allowed
/// that. A connection that leaves a command unanswered for the command timeout is closed and opened again.
///
/// The commands and the socket belong to ``eventLoop``: ``CommandPipeline`` is accessed through a box that checks this.
package final class RedisConnection: Sendable {
    /// The event loop of ``send(_:repeatedUntil:_:)`` and of all callbacks.
    package let eventLoop: any EventLoop
    /// Redis' clock, updated at each connect and every two seconds.
    package let clock = RedisClock()
    /// How it connects.
    let configuration: RedisConfiguration
    private let status = ConnectionStatus()
    private let pipeline: NIOLoopBoundBox<CommandPipeline>

    /// Creates a connection; ``start()`` opens it.
    /// - Parameters:
    ///   - libraries: loaded at each connect where the server lacks them, and again when a called function is missing.
    ///   - keepsClock: whether to ask Redis for its time; default true. Must be false for a
    ///     connection whose commands block.
    package init(
        configuration: RedisConfiguration, eventLoop: any EventLoop, libraries: [RedisFunctionLibrary] = [],
        keepsClock: Bool = true, logger: Logger
    ) {
        self.eventLoop = eventLoop
        self.configuration = configuration
        let link = RedisLink(
            configuration: configuration, eventLoop: eventLoop, libraries: libraries, asksTime: keepsClock,
            logger: logger)
        pipeline = .makeBoxSendingValue(
            CommandPipeline(link: link, clock: keepsClock ? clock : nil, status: status), eventLoop: eventLoop)
    }

    /// Starts to connect, and reconnects until ``close()``. May be called from any thread.
    package func start() {
        eventLoop.execute { self.pipeline.value.start() }
    }

    /// Closes the connection; waiting and later commands fail with `CLOSED`. May be called from any thread.
    package func close() async {
        await eventLoop.completed { self.pipeline.value.close() }
    }

    /// Closes the connection as ``close()`` does, without waiting for it. May be called from any thread.
    func closeSoon() {
        eventLoop.execute { self.pipeline.value.close() }
    }

    /// Whether commands can be sent now. May be read from any thread.
    package var isConnected: Bool { status.isUp.load(ordering: .acquiring) }

    /// The number of connects so far; a change means that there has been an outage. May be read from any thread.
    package var connectionCount: Int { status.connections.load(ordering: .acquiring) }

    /// The present term of the server; nil while it is not connected. On ``eventLoop`` only.
    var term: MasterTerm? {
        pipeline.value.upSince.map {
            MasterTerm(
                address: NodeAddress(host: configuration.host, port: configuration.port), number: connectionCount,
                begin: $0)
        }
    }

    /// The state of the connection, for the metrics. On ``eventLoop`` only.
    var linkState: RedisLinkState {
        pipeline.value.state(of: NodeAddress(host: configuration.host, port: configuration.port))
    }

    /// Registers a callback for each connect, once the server has the libraries; also called soon if connected already.
    /// May be called from any thread; the callback runs on the loop.
    package func onConnected(_ callback: @escaping @Sendable () -> Void) {
        eventLoop.execute { self.pipeline.value.onConnected(callback) }
    }

    /// Sends a command; on ``eventLoop`` only. The completion is called there once, possibly before this returns
    /// (`FULL`, `CLOSED`). An error reply is a failure.
    /// - Parameter until: for a command that takes effect once even when repeated: if the connection breaks before the
    ///   reply, it is sent again, in order with others of this kind, and completes at this time at the latest (a
    ///   durable one ``RedisConfiguration/replicaTimeout`` later). Default nil: never sent again.
    package func send(
        _ command: RedisCommand, repeatedUntil until: NIODeadline? = nil,
        _ completion: @escaping (Result<RedisValue, RedisError>) -> Void
    ) {
        pipeline.value.send(command, repeatedUntil: until, completion)
    }

    /// Sends commands in one write, without waiting for each other's replies; on ``eventLoop`` only. The completion is
    /// called there once, with one result per command, in order; possibly before this returns.
    package func send(_ commands: [RedisCommand], _ completion: @escaping ([Result<RedisValue, RedisError>]) -> Void) {
        guard !commands.isEmpty else { return completion([]) }
        let results = ResultCollector(count: commands.count, completion: completion)
        for (index, command) in commands.enumerated() { send(command) { results.set(index, $0) } }
    }

    /// Registers `act` to be called just before the commands of this tick of the loop are written, so that it can
    /// add more; on ``eventLoop`` only.
    package func beforeWriting(_ act: @escaping () -> Void) { pipeline.value.beforeWriting(act) }

    /// Sends a command; may be called from any thread.
    /// - Throws: an error reply, `CLOSED`, `TIMEOUT` or `FULL`.
    package func execute(_ command: RedisCommand) async throws(RedisError) -> RedisValue {
        let result: Result<RedisValue, RedisError> = await withCheckedContinuation { continuation in
            onLoop { self.send(command) { continuation.resume(returning: $0) } }
        }
        return try result.get()
    }

    /// Sends commands in one write, without waiting for each other's replies; may be called from any thread.
    /// - Returns: one result per command, in order.
    package func execute(_ commands: [RedisCommand]) async -> [Result<RedisValue, RedisError>] {
        guard !commands.isEmpty else { return [] }
        return await withCheckedContinuation { continuation in
            onLoop { self.send(commands) { continuation.resume(returning: $0) } }
        }
    }

    private func onLoop(_ act: @escaping @Sendable () -> Void) {
        if eventLoop.inEventLoop { act() } else { eventLoop.execute(act) }
    }
}

/// The state of a connection that may be read from any thread.
final class ConnectionStatus: Sendable {
    /// Whether commands can be sent now.
    let isUp = Atomic<Bool>(false)
    /// The number of connects so far.
    let connections = Atomic<Int>(0)
}
