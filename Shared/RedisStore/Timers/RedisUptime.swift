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

    /// Since when (Redis clock, ms); nil while that is not known.
    package var since: Int64? {
        tracker.withLock { $0.since(local: Self.now, connection: connection.connectionCount) }
    }

    /// From when on (Redis clock, ms) a lease that lives for `milliseconds` may be taken for ended: its keeper must have had
    /// Redis for so long. Nil while that is not known: then it is to be asked again.
    package func mayEnd(after milliseconds: Int64) -> Int64? { since.map { $0 + milliseconds } }

    /// Waits until Redis has been answering for so long: what it forgot has been told to it again by then.
    /// - Parameters:
    ///   - milliseconds: by Redis' clock.
    ///   - renew: called each second meanwhile; what it throws ends the wait.
    /// - Returns: false when this process is to end before that.
    package func wait(for milliseconds: Int64, _ renew: () async throws -> Void) async throws -> Bool {
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            let time = try await connection.execute(RedisCommand("TIME")).array ?? []
            if let since, let seconds = time.first?.int, seconds * 1000 >= since + milliseconds { return true }
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
                if let time = try? await connection.execute(RedisCommand("TIME")).array, time.count == 2,
                    let seconds = time[0].int, let micros = time[1].int, connection.connectionCount == before
                {
                    tracker.withLock {
                        $0.answered(redis: seconds * 1000 + micros / 1000, local: Self.now, connection: before)
                    }
                }
                await connection.eventLoop.pause(until: .nextTick)
            }
        }
    }

    private static var now: Int64 { Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000) }
}
