package import ClusterState
internal import NIOCore
import ServiceLifecycle
internal import Synchronization

/// Asks Redis for its time each second, to know since when it has been answering this process without a gap: an
/// ``UptimeTracker``, for those who judge whether a lease or a session's time is over.
package final class RedisUptime: Service {
    private let connection: RedisConnection
    private let tracker = Mutex(UptimeTracker())

    /// Watches over the connection's Redis once ``run()`` runs.
    package init(connection: RedisConnection) { self.connection = connection }

    /// Since when; nil while that is not known.
    package var since: RedisTime? {
        tracker.withLock { $0.since(local: Self.now, connection: connection.connectionCount) }
    }

    /// Waits until Redis has been answering for so long: what it forgot has been told to it again by then.
    /// - Parameters:
    ///   - span: by Redis' clock.
    ///   - renew: called each second meanwhile; what it throws ends the wait.
    /// - Returns: false when this process is to end before that.
    package func wait(for span: Duration, _ renew: () async throws -> Void) async throws -> Bool {
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            let now = try await connection.execute(RedisCommand("TIME")).time
            if let since, let now, now >= since + span { return true }
            try await renew()
            await connection.eventLoop.pause(until: .nextTick)
        }
        return false
    }

    /// Asks until graceful shutdown or cancellation.
    package func run() async throws {
        await withTaskExecutorPreference(EventLoopTasks(connection.eventLoop)) {
            while !Task.isCancelled, !Task.isShuttingDownGracefully {
                let before = connection.connectionCount
                if let time = try? await connection.execute(RedisCommand("TIME")).time,
                    connection.connectionCount == before
                {
                    tracker.withLock { $0.answered(redis: time, local: Self.now, connection: before) }
                }
                await connection.eventLoop.pause(until: .nextTick)
            }
        }
    }

    private static var now: Duration { .nanoseconds(Int64(NIODeadline.now().uptimeNanoseconds)) }
}

extension RedisValue {
    /// The answer to TIME as a moment; nil for any other value.
    package var time: RedisTime? {
        guard let parts = array, parts.count == 2 else { return nil }
        return RedisTime(seconds: parts[0].int, microseconds: parts[1].int)
    }
}
