package import ClusterState
internal import Logging
internal import NIOCore
package import RedisClient
internal import ServiceLifecycle
package import SignalingProtocol

/// A timer that this process has claimed.
package struct DueTimer: Sendable, Equatable {
    /// The timer's name, unique within its service.
    package var member: String
    /// When the claim expires. Identifies the claim in ``DueTimers/done(_:)``.
    package var claimEnd: RedisTime
}

/// A service's timers of one partition, stored in Redis so that they outlive the process that set them.
///
/// A claim hides a timer for a limited time (the lease); if the claimant dies, another process claims the timer after
/// that. So a timer may fire twice, or when there is nothing left to do: handlers must check the state before they act.
/// The connection must keep ``RedisFunctionLibrary/timers`` loaded.
package struct DueTimers: Sendable {
    private let connection: RedisClient
    private let key: String
    private let slot: UInt16
    private let logger: Logger
    private let wakeUp = TimerWakeUp()

    /// The timers of a service in a partition.
    package init(service: ServiceName, connection: RedisClient, partition: BusPartition) {
        self.connection = connection
        key = KeySpace.due(service, in: partition)
        slot = partition.slot
        logger = Logger(label: "due.\(service.rawValue)")
    }

    /// The Redis command that sets or moves a timer, for the caller to send in a pipeline.
    package func scheduling(_ member: String, at due: RedisTime) -> RedisCommand {
        wakeUp.timerSet(at: due)
        return .function("heliograph_due_set", tag: key, .time(due), .string(member))
    }

    /// Sets or moves a timer.
    package func schedule(_ member: String, at due: RedisTime) async throws(RedisError) {
        _ = try await connection.execute(scheduling(member, at: due))
    }

    /// The Redis command that removes a timer if there is one.
    package func cancelling(_ member: String) -> RedisCommand { RedisCommand("ZREM", key: key, .string(member)) }

    /// Removes a timer, if it exists.
    package func cancel(_ member: String) async throws(RedisError) {
        _ = try await connection.execute(cancelling(member))
    }

    /// Claims timers that are due, earliest first.
    /// - Parameters:
    ///   - limit: the largest number of timers; default 100.
    ///   - lease: how long they are hidden from other claims; default 10 s.
    package func claim(limit: Int = 100, lease: Duration = .seconds(10)) async throws(RedisError) -> [DueTimer] {
        let reply = try await connection.execute(
            .function("heliograph_due_claim", tag: key, .int(limit), .milliseconds(lease)))
        guard let flat = reply.array, flat.count.isMultiple(of: 2) else { throw .shape("the reply to due_claim") }
        var timers: [DueTimer] = []
        for index in stride(from: 0, to: flat.count, by: 2) {
            guard let member = flat[index].string, let end = flat[index + 1].int else {
                throw .shape("the reply to due_claim")
            }
            timers.append(DueTimer(member: member, claimEnd: RedisTime(milliseconds: end)))
        }
        return timers
    }

    /// Removes handled timers, except those that were set again since they were claimed.
    package func done(_ timers: [DueTimer]) async throws(RedisError) {
        guard !timers.isEmpty else { return }
        let arguments = timers.flatMap { [RedisArgument.string($0.member), .time($0.claimEnd)] }
        _ = try await connection.execute(.function("heliograph_due_done", tag: key, arguments: arguments))
    }

    /// Claims and handles timers until shutdown or cancellation; handlers that are running then are finished.
    ///
    /// Checks for due timers every second, and also when a timer is due that this process has set or has
    /// seen at its last check. So a timer that another process has set may fire up to a second late. The
    /// timers of one claim are handled concurrently, on the connection's event loop. A timer whose handler
    /// throws fires again when its lease ends.
    /// - Parameters:
    ///   - interval: the shortest time between two checks; default 250 ms.
    ///   - lease: how long a handler may take before another process may claim the timer; default 10 s.
    ///   - handler: acts on one timer, after checking the state.
    package func run(
        every interval: Duration = .milliseconds(250), lease: Duration = .seconds(10),
        handler: @escaping @Sendable (DueTimer) async throws -> Void
    ) async {
        await withTaskExecutorPreference(EventLoopTasks(connection.eventLoop)) {
            let limit = 100
            while !Task.isCancelled, !Task.isShuttingDownGracefully {
                var claimed: [DueTimer] = []
                do {
                    if try await isAnyDue() { claimed = try await claim(limit: limit, lease: lease) }
                    try await done(await handle(claimed, with: handler))
                } catch {
                    logger.warning("could not claim or remove timers", metadata: ["error": "\(error)"])
                }
                if claimed.count < limit { await wakeUp.wait(on: connection.eventLoop, atLeast: interval) }
            }
        }
    }

    /// Reads the earliest timer.
    /// - Returns: whether it is due.
    private func isAnyDue() async throws(RedisError) -> Bool {
        wakeUp.checkBegins()
        let replies = await connection.execute([
            RedisCommand("TIME").inSlot(slot), RedisCommand("ZRANGE", key: key, 0, 0, "WITHSCORES"),
        ])
        let first = try replies[1].get().array?.last?.string.flatMap(Double.init).map {
            RedisTime(milliseconds: Int64($0))
        }
        return wakeUp.checkEnds(at: try replies[0].get(), first: first)
    }

    private func handle(
        _ timers: [DueTimer], with handler: @escaping @Sendable (DueTimer) async throws -> Void
    ) async -> [DueTimer] {
        await withTaskGroup(of: DueTimer?.self) { group in
            for timer in timers {
                group.addTask {
                    do {
                        try await handler(timer)
                        return timer
                    } catch {
                        logger.warning(
                            "a timer's handler failed; the timer will fire again", metadata: ["error": "\(error)"])
                        return nil
                    }
                }
            }
            var handled: [DueTimer] = []
            for await timer in group { if let timer { handled.append(timer) } }
            return handled
        }
    }
}
