package import ClusterState
package import Logging
package import NIOCore
internal import Synchronization

/// Redis as its clients use it: a single server, or all masters of a Redis Cluster. The same calls work on both.
///
/// A single server is used through one ``RedisConnection``, with nothing in between. In a cluster every command goes to the
/// master of its slot (``RedisCommand/inSlot(_:)``); ``ClusterStateMachine`` says how refusals, moved slots and lost masters
/// are dealt with, and which order is kept.
package final class RedisCluster: Sendable {
    enum Backend: Sendable {
        case single(RedisConnection)
        case cluster(NIOLoopBoundBox<ClusterDriver>)
    }

    /// The event loop of ``send(_:repeatedUntil:_:)`` and of all callbacks.
    package let eventLoop: any EventLoop
    /// The limits of each connection; in a cluster its address is not used.
    let configuration: RedisConfiguration
    let url: RedisURL
    let backend: Backend
    private let status = ConnectionStatus()

    /// Creates a client; ``start()`` connects it.
    /// - Parameters:
    ///   - url: `redis://...` for a single server, `redis+cluster://HOST,HOST...` for a cluster; with `rediss` for TLS.
    ///   - libraries: loaded into each master at each connect, and again when a called function is missing.
    ///   - configure: changes limits. The number and size of pending commands are those of all masters together.
    /// - Throws: code `URL` with the reason.
    package init(
        url text: String, eventLoop: any EventLoop, libraries: [RedisFunctionLibrary] = [], logger: Logger,
        configure: (inout RedisConfiguration) -> Void = { _ in }
    ) throws(RedisError) {
        let url = try RedisURL(text)
        var limits = RedisConfiguration(url, url.addresses[0])
        configure(&limits)
        self.eventLoop = eventLoop
        self.url = url
        configuration = limits
        switch url.flavour {
        case .single:
            backend = .single(
                RedisConnection(configuration: limits, eventLoop: eventLoop, libraries: libraries, logger: logger))
        case .cluster:
            let driver = ClusterDriver(
                url: url, limits: limits, eventLoop: eventLoop, libraries: libraries, status: status, logger: logger)
            backend = .cluster(.makeBoxSendingValue(driver, eventLoop: eventLoop))
        case .sentinel: throw RedisURL.invalid("redis+sentinel:// is not supported")
        }
    }

    /// Starts to connect, and reconnects until ``close()``. May be called from any thread.
    package func start() {
        switch backend {
        case .single(let connection): connection.start()
        case .cluster(let driver): eventLoop.execute { driver.value.start() }
        }
    }

    /// Closes all connections; waiting and later commands fail with `CLOSED`. May be called from any thread.
    package func close() async {
        switch backend {
        case .single(let connection): await connection.close()
        case .cluster(let driver):
            await withCheckedContinuation { continuation in
                eventLoop.execute {
                    driver.value.close()
                    continuation.resume()
                }
            }
        }
    }

    /// Whether commands can be sent now: in a cluster, to more than half of the masters. May be read from any thread.
    package var isConnected: Bool {
        switch backend {
        case .single(let connection): connection.isConnected
        case .cluster: status.isUp.load(ordering: .acquiring)
        }
    }

    /// Registers a callback for each connect of a server, after the libraries are loaded; also called soon for those connected
    /// already. May be called from any thread; the callback runs on the loop.
    package func onConnected(_ callback: @escaping @Sendable (NodeAddress) -> Void) {
        switch backend {
        case .single(let connection):
            let address = NodeAddress(host: configuration.host, port: configuration.port)
            connection.onConnected { callback(address) }
        case .cluster(let driver): eventLoop.execute { driver.value.onConnected(callback) }
        }
    }

    /// The clock of the master that owns a slot; nil while none is known. On ``eventLoop`` only.
    package func clock(ofSlot slot: UInt16) -> RedisClock? {
        switch backend {
        case .single(let connection): connection.clock
        case .cluster(let driver): driver.value.owner(ofSlot: slot)?.clock
        }
    }

    // MARK: - Commands

    /// Sends a command; on ``eventLoop`` only. The completion is called there once, possibly before this returns (`FULL`,
    /// `CLOSED`, and in a cluster `SLOT` when the command names no slot). An error reply is a failure.
    ///
    /// In a cluster, commands of one slot take effect in the order in which they were sent. A command that a server refuses
    /// because of the cluster's state, or that was not written when its connection broke, had no effect; it is sent again until
    /// `until`, or for the command timeout.
    /// - Parameter until: for a command that takes effect once even when repeated: if the connection breaks before the
    ///   reply, it is sent again, in order with others of this kind, and completes at this time at the latest. Default nil:
    ///   never sent again.
    package func send(
        _ command: RedisCommand, repeatedUntil until: NIODeadline? = nil,
        _ completion: @escaping (Result<RedisValue, RedisError>) -> Void
    ) {
        switch backend {
        case .single(let connection): connection.send(command, repeatedUntil: until, completion)
        case .cluster(let driver): driver.value.send(command, repeatedUntil: until, completion)
        }
    }

    /// Sends commands, and others that must not take effect before them; on ``eventLoop`` only. On one server all are sent
    /// at once. Across servers the later commands wait for the answers to the first, and are not sent at all when the outcome
    /// of one of those is unknown: they fail with its error.
    /// - Parameter completion: called once with one result per command, in order.
    package func send(
        _ first: [RedisCommand], then later: [RedisCommand],
        _ completion: @escaping ([Result<RedisValue, RedisError>]) -> Void
    ) {
        let results = ResultCollector(count: first.count + later.count, completion: completion)
        let sendLater = {
            for (index, command) in later.enumerated() { self.send(command) { results.set(first.count + index, $0) } }
        }
        if first.isEmpty || keepsOrder(of: first + later) {
            for (index, command) in first.enumerated() { send(command) { results.set(index, $0) } }
            return sendLater()
        }
        var awaited = AnswersAwaited(count: first.count)
        for (index, command) in first.enumerated() {
            send(command) { result in
                results.set(index, result)
                switch awaited.answered(result) {
                case .wait: break
                case .send: sendLater()
                case .fail(let error): for place in later.indices { results.set(first.count + place, .failure(error)) }
                }
            }
        }
    }

    private func keepsOrder(of commands: [RedisCommand]) -> Bool {
        switch backend {
        case .single: true
        case .cluster(let driver): driver.value.machine.keepsOrder(of: commands.compactMap(\.slot))
        }
    }

    /// Registers `act` to be called just before the commands of this tick of the loop are written, so that it can add more;
    /// on ``eventLoop`` only.
    package func beforeWriting(_ act: @escaping () -> Void) {
        switch backend {
        case .single(let connection): connection.beforeWriting(act)
        case .cluster(let driver): driver.value.beforeWriting(act)
        }
    }

    /// Sends a command; may be called from any thread.
    /// - Throws: an error reply, `CLOSED`, `TIMEOUT` or `FULL`; in a cluster `SLOT` when the command names no slot.
    package func execute(_ command: RedisCommand) async throws(RedisError) -> RedisValue {
        let result: Result<RedisValue, RedisError> = await withCheckedContinuation { continuation in
            onLoop { self.send(command) { continuation.resume(returning: $0) } }
        }
        return try result.get()
    }

    /// Sends commands without waiting for each other's replies, in one write per server; may be called from any thread.
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
