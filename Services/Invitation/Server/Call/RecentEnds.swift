internal import ClusterState
internal import DequeModule
internal import InvitationLogic
internal import Logging
internal import RedisClient
internal import ServiceLifecycle
internal import SignalingProtocol
internal import Synchronization

/// The ends of calls that this process has told to the parties a short while ago.
///
/// The entries of these ends in the call log go through Redis to PostgreSQL, which takes about a second. If Redis loses
/// an entry on the way, the log shows the call as going on, and somebody would end it a second time. So after each
/// connect to Redis this process writes an entry again if Redis has lost the call's record too. Redis keeps the record
/// for longer than this process remembers the end, so a record that is gone was lost.
final class RecentEnds: Service, Sendable {
    /// How long an end is remembered: Redis may have lost what it was told this long before.
    static let lifetime = Duration.seconds(60)
    /// Ends that are remembered at most, the latest.
    static let bound = 20_000
    /// How long after a connect all processes have written their ends again, and these are copied.
    private static let settling = Duration.seconds(3)
    /// How many records are looked for at a time.
    private static let page = 200

    private struct End {
        let entry: CallLogEntry
        let tag: String
        let at: ContinuousClock.Instant
    }

    private let redis: RedisClient
    private let records: CallRecordStore
    private let logger: Logger
    private let ends = Mutex(Deque<End>())
    private let lastConnect = Mutex<ContinuousClock.Instant?>(nil)
    private let connects: AsyncStream<Void>
    private let connected: AsyncStream<Void>.Continuation

    init(redis: RedisClient, records: CallRecordStore, logger: Logger) {
        self.redis = redis
        self.records = records
        self.logger = logger
        // One more look after the one in progress covers all connects meanwhile.
        (connects, connected) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Remembers what was logged, if it is the end of a call.
    /// - Parameter tag: that of the call's record.
    func add(_ entry: CallLogEntry, of tag: String) {
        guard entry.endedAt != nil else { return }
        let now = ContinuousClock.now
        ends.withLock { ends in
            while let first = ends.first, ends.count >= Self.bound || first.at.duration(to: now) > Self.lifetime {
                ends.removeFirst()
            }
            ends.append(End(entry: entry, tag: tag, at: now))
        }
    }

    /// Whether the call log can be judged: not right after a connect, when ends may be on their way to it again.
    var isSettled: Bool {
        lastConnect.withLock { last in last.map { $0.duration(to: .now) >= Self.settling } ?? false }
    }

    /// Looks after each connect of Redis whether it still has the records.
    func run() async throws {
        redis.onConnected { [weak self] _ in self?.noteConnect() }
        for await _ in connects.cancelOnGracefulShutdown() {
            // A failed look is followed by another connect.
            do throws(SignalingError) { try await writeAgain() } catch {
                logger.debug("could not look for the records of ended calls", metadata: ["error": "\(error)"])
            }
        }
    }

    private func noteConnect() {
        lastConnect.withLock { $0 = .now }
        connected.yield()
    }

    private func writeAgain() async throws(SignalingError) {
        let now = ContinuousClock.now
        var left = ends.withLock { ends in ends.filter { $0.at.duration(to: now) <= Self.lifetime } }
        while !left.isEmpty {
            let page = Array(left.prefix(Self.page))
            left.removeFirst(page.count)
            let held = try await records.ids(page.map(\.tag))
            // Another call between the two in the channel has replaced the record: Redis knew of the end then.
            for (end, id) in zip(page, held) where id == nil {
                try await records.log(end.entry, of: end.tag)
                logger.notice("wrote the end of a call again", metadata: ["call": "\(end.entry.call.id)"])
            }
        }
    }
}
