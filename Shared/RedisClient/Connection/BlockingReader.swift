internal import ClusterState
package import Logging
internal import NIOCore

/// A connection for reads that block up to a second, to the server that owns a slot. It follows the slot to another
/// server: a read that waits for a server that has been replaced fails as soon as that is known.
///
/// Used by one task at a time.
package final class BlockingReader: Sendable {
    /// How long a server that still answers has to answer a read when it no longer owns the slot; default 250 ms.
    /// Entries that it has just delivered would otherwise be lost with the connection, until a consumer claims them.
    private static let leaveTime = TimeAmount.milliseconds(250)

    private let redis: RedisClient
    private let slot: UInt16
    private let logger: Logger
    /// The connection, and the server that it goes to.
    private let current: NIOLoopBoundBox<(address: NodeAddress, connection: RedisConnection)?>

    /// Creates a reader that connects at its first command.
    /// - Parameter slot: the slot of all keys that the reader reads.
    package init(_ redis: RedisClient, slot: UInt16, logger: Logger) {
        self.redis = redis
        self.slot = slot
        self.logger = logger
        current = .makeBoxSendingValue(nil, eventLoop: redis.eventLoop)
    }

    /// Sends a command, which may block for a second.
    /// - Throws: as `RedisConnection.execute` does; also when another server has become the owner, or none is known.
    ///   The next command then goes to the owner, as soon as it is known.
    package func execute(_ command: RedisCommand) async throws(RedisError) -> RedisValue {
        let result: Result<RedisValue, RedisError> = await withCheckedContinuation { continuation in
            onLoop {
                guard let connection = self.connection() else {
                    return continuation.resume(returning: .failure(.unsent))
                }
                connection.send(command) { result in
                    if case .failure = result { self.redis.backend.wantMap() }
                    continuation.resume(returning: result)
                }
            }
        }
        return try result.get()
    }

    /// Closes the connection.
    package func close() async {
        await redis.eventLoop.completed {
            self.redis.backend.forget(self)
            self.leave()
        }
    }

    /// The connection to the slot's owner, opened if there is none; nil while no owner is known.
    private func connection() -> RedisConnection? {
        guard let owner = redis.owner(ofSlot: slot) else { return nil }
        if let current = current.value, current.address == owner { return current.connection }
        if current.value == nil { redis.backend.tell(self) } else { leave() }
        var configuration = redis.configuration.at(owner)
        configuration.commandTimeout = max(configuration.commandTimeout, .seconds(3))
        let connection = RedisConnection(
            configuration: configuration, eventLoop: redis.eventLoop, keepsClock: false, logger: logger)
        connection.start()
        current.value = (owner, connection)
        return connection
    }

    /// Closes the connection; a read that waits on it fails.
    private func leave() {
        current.value?.connection.closeSoon()
        current.value = nil
    }

    private func onLoop(_ act: @escaping @Sendable () -> Void) {
        if redis.eventLoop.inEventLoop { act() } else { redis.eventLoop.execute(act) }
    }
}

extension BlockingReader: SlotMapObserver {
    func mapChanged(_ changes: SlotMapChanges) {
        guard let owner = redis.owner(ofSlot: slot), let former = current.value, former.address != owner else { return }
        guard former.connection.isConnected else { return leave() }
        redis.eventLoop.scheduleTask(in: Self.leaveTime) {
            if self.current.value?.connection === former.connection { self.leave() }
        }
    }
}
