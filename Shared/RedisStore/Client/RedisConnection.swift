package import ClusterState
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
/// The commands and the socket belong to ``eventLoop``: ``CommandPipeline`` is reached through a box that checks it.
package final class RedisConnection: Sendable {
    /// The loop of ``send(_:repeatedUntil:_:)`` and of all callbacks.
    package let eventLoop: any EventLoop
    /// Redis' clock: asked for with each connect, and every two seconds.
    package let clock = RedisClock()
    private let status = ConnectionStatus()
    private let pipeline: NIOLoopBoundBox<CommandPipeline>

    /// Makes a connection; ``start()`` opens it.
    /// - Parameters:
    ///   - libraries: loaded at each connect, and again when a call finds its function missing.
    ///   - keepsClock: whether to ask for Redis' time; default true. Not where a command may block.
    package init(
        configuration: RedisConfiguration, eventLoop: any EventLoop, libraries: [RedisFunctionLibrary] = [],
        keepsClock: Bool = true, logger: Logger
    ) {
        self.eventLoop = eventLoop
        let link = RedisLink(
            configuration: configuration, eventLoop: eventLoop, libraries: libraries, asksTime: keepsClock,
            logger: logger)
        pipeline = .makeBoxSendingValue(
            CommandPipeline(
                configuration: configuration, link: link, libraries: libraries, clock: keepsClock ? clock : nil,
                status: status, logger: logger),
            eventLoop: eventLoop)
    }

    /// Begins to connect, and keeps doing so until ``close()``. From any thread.
    package func start() {
        eventLoop.execute { self.pipeline.value.start() }
    }

    /// Closes; commands that wait fail with `CLOSED`, later ones too. From any thread.
    package func close() async {
        await withCheckedContinuation { continuation in
            eventLoop.execute {
                self.pipeline.value.close()
                continuation.resume()
            }
        }
    }

    /// Whether commands flow now. From any thread.
    package var isConnected: Bool { status.isUp.load(ordering: .acquiring) }

    /// How often the connection was made; a change tells that an outage lay between. From any thread.
    package var connectionCount: Int { status.connections.load(ordering: .acquiring) }

    /// Asks to be called after each connect, libraries loaded, and soon if connected already. From any thread; the
    /// callback comes on the loop.
    package func onConnected(_ callback: @escaping @Sendable () -> Void) {
        eventLoop.execute { self.pipeline.value.onConnected(callback) }
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
        pipeline.value.send(command, repeatedUntil: until, completion)
    }

    /// Has `act` called just before what this turn of the loop sent is written, to send more; on ``eventLoop`` only.
    package func beforeWriting(_ act: @escaping () -> Void) { pipeline.value.beforeWriting(act) }

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
                let results = ResultCollector(count: commands.count) { continuation.resume(returning: $0) }
                for (index, command) in commands.enumerated() { self.send(command) { results.set(index, $0) } }
            }
        }
    }

    private func onLoop(_ act: @escaping @Sendable () -> Void) {
        if eventLoop.inEventLoop { act() } else { eventLoop.execute(act) }
    }
}

/// What other threads may know of a connection.
final class ConnectionStatus: Sendable {
    /// Whether commands flow now.
    let isUp = Atomic<Bool>(false)
    /// How often the connection was made.
    let connections = Atomic<Int>(0)
}
