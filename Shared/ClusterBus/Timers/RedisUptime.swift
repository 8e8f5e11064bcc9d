internal import ClusterState
internal import NIOCore
internal import Pacing
package import RedisClient
import ServiceLifecycle
internal import ServiceMetrics
package import SignalingProtocol

/// Asks each master of Redis for its time every second, to know since when it has been answering this process without a
/// gap (see ``UptimeTracker``). For services that decide whether a lease or a session has expired.
package final class RedisUptime: Service {
    private let connection: RedisClient
    /// By the master's address. Belongs to the connection's event loop.
    private let trackers: NIOLoopBoundBox<[NodeAddress: UptimeTracker]>

    /// Creates a watcher of the connection's Redis; it works while ``run()`` runs.
    package init(connection: RedisClient) {
        self.connection = connection
        trackers = .makeBoxSendingValue([:], eventLoop: connection.eventLoop)
    }

    /// Since when the master that owns a slot has been answering as such without a gap, by its own
    /// clock; nil while that is unknown.
    package func since(ofSlot slot: UInt16) async -> RedisTime? {
        await connection.read { self.known(slot) }
    }

    private func known(_ slot: UInt16) -> RedisTime? {
        guard let term = connection.term(ofSlot: slot) else { return nil }
        return trackers.value[term.address]?.since(local: .now, term: term.number)
    }

    /// Waits until all masters have been answering without a gap for a time span, in which others have been able to
    /// write again what Redis had lost.
    /// - Parameters:
    ///   - span: measured by each master's clock.
    ///   - renew: called every second during the wait; an error that it throws ends the wait.
    /// - Returns: false when the wait ended because this process is shutting down.
    package func wait(for span: Duration, _ renew: () async throws -> Void) async throws -> Bool {
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            if try await haveAnswered(for: span) { return true }
            try await renew()
            await connection.eventLoop.pause(until: .nextTick)
        }
        return false
    }

    private func haveAnswered(for span: Duration) async throws -> Bool {
        let slots = await connection.read { [connection] in connection.slotsOfMasters }
        for slot in slots {
            guard let since = await since(ofSlot: slot),
                let now = try await connection.execute(RedisCommand("TIME").inSlot(slot)).time, now >= since + span
            else { return false }
        }
        return !slots.isEmpty
    }

    /// Asks Redis until graceful shutdown or cancellation.
    package func run() async throws {
        await withTaskExecutorPreference(EventLoopTasks(connection.eventLoop)) {
            while !Task.isCancelled, !Task.isShuttingDownGracefully {
                askAll()
                await connection.eventLoop.pause(until: .nextTick)
            }
        }
    }

    /// Asks each master, without waiting for one that does not answer.
    private func askAll() {
        let slots = connection.slotsOfMasters
        for slot in slots { ask(slot) }
        if let spread = connection.clockSpread {
            RedisMetrics.shared.clockSpread.set(Double(spread.wholeMilliseconds) / 1000)
        }
        guard trackers.value.count > slots.count else { return }
        let masters = Set(slots.compactMap { connection.owner(ofSlot: $0) })
        trackers.value = trackers.value.filter { masters.contains($0.key) }
    }

    private func ask(_ slot: UInt16) {
        guard let term = connection.term(ofSlot: slot) else { return }
        connection.send(RedisCommand("TIME").inSlot(slot)) { [self] result in
            // An answer from another master, or over another connection, says nothing about this term.
            guard let time = (try? result.get())?.time, connection.term(ofSlot: slot) == term else { return }
            trackers.value[term.address, default: UptimeTracker()].answered(
                redis: time, local: .now, term: term.number)
        }
    }
}
