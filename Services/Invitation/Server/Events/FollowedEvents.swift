internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import DequeModule
internal import InvitationLogic
internal import Logging
internal import MessageStore
internal import RedisClient
internal import ServiceKit
internal import ServiceLifecycle
internal import ServiceMetrics
internal import SignalingProtocol
internal import Synchronization

/// Tells those who follow an app's events of its calls and messages.
///
/// Nothing waits for the master of Redis that has the log. What it does not take at once is kept here, and told in the
/// order of the events when it does. If this process ends meanwhile, those who follow miss it.
final class FollowedEvents: Service, Sendable {
    /// Events that wait at most, of all apps; further ones are dropped.
    static let bound = 10_000
    /// How long an event's cause waits for the log: longer than a master that works takes.
    private static let patience = Duration.milliseconds(100)
    /// The time between two attempts to tell what waits.
    private static let pause = Duration.milliseconds(500)
    /// How many events are told at a time, and how long their answers are waited for.
    private static let page = 100
    private static let pageTime = Duration.seconds(2)

    private let redis: RedisClient
    private let logger: Logger
    private let waiting = Mutex(Waiting())

    /// The events that the logs have not taken yet.
    private struct Waiting {
        var ofApps: [AppID: Deque<RedisCommand>] = [:]
        var count = 0
    }

    init(redis: RedisClient, logger: Logger) {
        self.redis = redis
        self.logger = logger
    }

    /// How many events wait.
    var count: Int { waiting.withLock { $0.count } }

    /// Tells of a call's changes; does nothing when nobody follows.
    /// - Parameter isReachable: false when the log's master has just not answered, so that it is not waited for again.
    func tell(_ entries: [CallLogEntry], isReachable: Bool = true) async {
        guard let app = entries.first?.call.channel.app else { return }
        await tell(entries.map { FollowedEvent($0.webhookEvent, in: .calls) }, of: app, isReachable: isReachable)
    }

    /// Tells of messages of any apps, those of an app in their order; does nothing for apps that nobody follows.
    func tell(ofMessages events: [WebhookEvent]) async {
        let ofApps = Dictionary(grouping: events, by: \.app)
        let apps = Array(ofApps.keys)
        let asked = await redis.execute(
            [], then: apps.map { FollowedEvent.audience(of: .messages, in: $0) }, within: Self.patience)
        for (app, answer) in zip(apps, asked) {
            let found = try? answer.get()
            guard ServerAnnouncement.mayBeHeard(found), let events = ofApps[app] else { continue }
            await tell(events.map { FollowedEvent($0, in: .messages) }, of: app, isReachable: found != nil)
        }
    }

    private func tell(_ events: [FollowedEvent], of app: AppID, isReachable: Bool) async {
        var commands = events.map(\.publishing)
        // Not before what waits already.
        if isReachable, waiting.withLock({ $0.ofApps[app] == nil }) {
            let told = await send(commands, within: Self.patience)
            commands.removeFirst(told)
        }
        keep(commands, of: app)
    }

    /// Sends events to one log.
    /// - Returns: how many of the first need not be sent again.
    private func send(_ commands: [RedisCommand], within limit: Duration) async -> Int {
        let results = await redis.execute([], then: commands, within: limit)
        return results.firstIndex { result in
            guard case .failure(let error) = result else { return false }
            if error.signaling.reason == .unavailable { return true }
            // It would be refused again.
            InvitationMetrics.shared.followedDropped.increment()
            logger.error("could not tell an event", metadata: ["error": "\(error)"])
            return false
        } ?? commands.count
    }

    private func keep(_ commands: [RedisCommand], of app: AppID) {
        guard !commands.isEmpty else { return }
        let dropped = waiting.withLock { waiting in
            let kept = commands.prefix(Self.bound - waiting.count)
            if !kept.isEmpty { waiting.ofApps[app, default: []] += kept }
            waiting.count += kept.count
            return commands.count - kept.count
        }
        InvitationMetrics.shared.followedDropped.increment(by: dropped)
    }

    func run() async throws {
        await PeriodicTask(
            every: Self.pause, jitter: 0.9...1.1, complaint: "could not tell events", level: .debug, logger: logger
        ).run { await self.tellWaiting() }
    }

    /// Tells what the logs take by now.
    private func tellWaiting() async {
        for app in waiting.withLock({ Array($0.ofApps.keys) }) {
            while let page = waiting.withLock({ $0.ofApps[app]?.prefix(Self.page) }) {
                let told = await send(Array(page), within: Self.pageTime)
                waiting.withLock { waiting in
                    waiting.ofApps[app]?.removeFirst(told)
                    waiting.count -= told
                    if waiting.ofApps[app]?.isEmpty == true { waiting.ofApps[app] = nil }
                }
                if told < page.count { break }
            }
        }
    }
}
