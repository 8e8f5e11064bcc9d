internal import ClusterState
internal import NIOCore
import ServiceLifecycle
package import SignalingProtocol
internal import Synchronization

/// Asks Redis for its time every second, to know since when it has been answering this process without a gap (see
/// ``UptimeTracker``). For services that decide whether a lease or a session has expired.
package final class RedisUptime: Service {
    private let connection: RedisConnection
    private let tracker = Mutex(UptimeTracker())

    /// Creates a watcher of the connection's Redis; it works while ``run()`` runs.
    package init(connection: RedisConnection) { self.connection = connection }

    /// Since when Redis has been answering without a gap; nil while that is unknown.
    package var since: RedisTime? {
        tracker.withLock { $0.since(local: ContinuousClock.now, connection: connection.connectionCount) }
    }

    /// Waits until Redis has been answering without a gap for a time span, in which others have been able to write again
    /// what Redis had lost.
    /// - Parameters:
    ///   - span: measured by Redis' clock.
    ///   - renew: called every second during the wait; an error that it throws ends the wait.
    /// - Returns: false when the wait ended because this process is shutting down.
    package func wait(for span: Duration, _ renew: () async throws -> Void) async throws -> Bool {
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            let now = try await connection.execute(RedisCommand("TIME")).time
            if let since, let now, now >= since + span { return true }
            try await renew()
            await connection.eventLoop.pause(until: .nextTick)
        }
        return false
    }

    /// Asks Redis until graceful shutdown or cancellation.
    package func run() async throws {
        await withTaskExecutorPreference(EventLoopTasks(connection.eventLoop)) {
            while !Task.isCancelled, !Task.isShuttingDownGracefully {
                let before = connection.connectionCount
                if let time = try? await connection.execute(RedisCommand("TIME")).time,
                    connection.connectionCount == before
                {
                    tracker.withLock { $0.answered(redis: time, local: ContinuousClock.now, connection: before) }
                }
                await connection.eventLoop.pause(until: .nextTick)
            }
        }
    }
}

extension RedisValue {
    /// The reply to TIME as a moment; nil for any other value.
    package var time: RedisTime? {
        guard let parts = array, parts.count == 2 else { return nil }
        return RedisTime(seconds: parts[0].int, microseconds: parts[1].int)
    }
}
