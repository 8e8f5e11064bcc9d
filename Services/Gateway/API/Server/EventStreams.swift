internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import GatewayAPILogic
internal import MessageStore
internal import RedisClient
internal import ServiceLifecycle
internal import ServiceMetrics
internal import SignalingProtocol
internal import Synchronization

/// The open streams of events. Each reads the logs of the app's events itself, one page at a time, so that
/// nothing is buffered: what a slow reader has not read is in Redis, as long as the logs have it.
final class EventStreams: Sendable {
    /// Streams of this process at most.
    static let bound = 200
    /// Streams of one key at most.
    static let boundOfKey = 20
    /// Streams of one app at most, with any keys: a few apps cannot take the places of all.
    static let boundOfApp = 40
    /// The time between two reads when there is nothing to read.
    private static let pause = Duration.milliseconds(500)
    /// The time between two lines when nothing happens.
    private static let heartbeat = Duration.seconds(15)
    /// How often the key is checked, and how long a stream goes on while it cannot be.
    private static let check = Duration.seconds(5)
    private static let trust = Duration.seconds(30)
    /// How often events are asked for again.
    private static let renewal = Duration.seconds(60)

    private let shards: APIShards
    private let directory: APIDirectory
    private let open = Mutex(Counts())

    /// How many streams are open.
    private struct Counts {
        var all = 0
        var ofKeys: [String: Int] = [:]
        var ofApps: [AppID: Int] = [:]
    }

    /// The place of a stream among those that are counted; free when nobody has it any more.
    final class Place: Sendable {
        private let key: String
        private let app: AppID
        private let streams: EventStreams

        fileprivate init(_ key: String, _ app: AppID, _ streams: EventStreams) {
            self.key = key
            self.app = app
            self.streams = streams
        }

        deinit { streams.ended(key, app) }
    }

    init(shards: APIShards, directory: APIDirectory) {
        self.shards = shards
        self.directory = directory
    }

    /// Counts a stream.
    /// - Throws: ``APIProblem`` with ``APIErrorCode/unavailable`` when there are too many.
    private func place(of key: APIKey, in app: AppID) throws(APIProblem) -> Place {
        let isCounted = open.withLock { open in
            guard open.all < Self.bound, open.ofKeys[key.id, default: 0] < Self.boundOfKey,
                open.ofApps[app, default: 0] < Self.boundOfApp
            else { return false }
            open.all += 1
            open.ofKeys[key.id, default: 0] += 1
            open.ofApps[app, default: 0] += 1
            APIMetrics.shared.streams.set(open.all)
            return true
        }
        guard isCounted else {
            let bound = "\(Self.boundOfKey) streams of a key, \(Self.boundOfApp) of an app, \(Self.bound) of a process"
            throw APIProblem(.unavailable, "as many streams are open as may: \(bound)", bound: bound)
        }
        return Place(key.id, app, self)
    }

    private func ended(_ key: String, _ app: AppID) {
        open.withLock { open in
            open.all -= 1
            open.ofKeys[key] = open.ofKeys[key] == 1 ? nil : open.ofKeys[key].map { $0 - 1 }
            open.ofApps[app] = open.ofApps[app] == 1 ? nil : open.ofApps[app].map { $0 - 1 }
            APIMetrics.shared.streams.set(open.all)
        }
    }

    /// Starts a stream.
    /// - Parameter after: nil for the events from now on.
    /// - Throws: ``APIProblem``; nothing has been sent then.
    func start(
        _ app: AppID, kinds: Set<EventKind>, after: EventPosition?, key: APIKey
    ) async throws(APIProblem) -> EventStream {
        if kinds.contains(.message), try await directory.settings(of: app)?.limits.streamedMessages == nil {
            throw .invalid("kinds", "without message, until `heliographctl app limit --message-events` turns them on")
        }
        let source = EventSource(shard: shards.next(), app: app)
        let place = try place(of: key, in: app)
        let logs = EventKind.logs(of: kinds)
        do throws(SignalingError) {
            let since = try await source.announce(in: logs)
            let latest = try await source.latest(of: logs.filter { after?[log: $0] == nil })
            return EventStream(
                source: source, place: place,
                feed: EventFeed(kinds: kinds, after: after, latest: latest, since: since))
        } catch {
            throw APIProblem(error)
        }
    }

    /// Sends events until the client goes, the key ends or cannot be checked any more, or the gateway stops.
    /// - Parameter write: sends a text; throws when the client has gone.
    func run(_ stream: EventStream, key: APIKey, _ write: (String) async throws -> Void) async throws {
        var feed = stream.feed
        try await write(feed.heartbeat + feed.opening)
        let clock = ContinuousClock()
        var (spoken, checked, known, announced) = (clock.now, clock.now, clock.now, clock.now)
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            let (text, hasMore) = await stream.source.read(&feed)
            let now = clock.now
            if !text.isEmpty {
                try await write(text)
                spoken = now
            } else if spoken.duration(to: now) >= Self.heartbeat {
                try await write(feed.heartbeat)
                spoken = now
            }
            if checked.duration(to: now) >= Self.check {
                if let isValid = try? await directory.isValid(key) {
                    guard isValid else { return }
                    known = now
                }
                guard known.duration(to: now) < Self.trust else { return }
                checked = now
            }
            if announced.duration(to: now) >= Self.renewal {
                if let since = try? await stream.source.announce(in: Set(feed.logs)) {
                    announced = now
                    let gap = feed.announced(since: since)
                    if !gap.isEmpty { try await write(gap) }
                }
            }
            if !hasMore { try await Task.sleep(for: Self.pause) }
        }
    }
}

/// One stream of an app's events.
struct EventStream: Sendable {
    let source: EventSource
    let place: EventStreams.Place
    let feed: EventFeed
}

/// The logs of an app's events.
struct EventSource: Sendable {
    /// How long events are announced after a stream has asked for them: as long as logs have them for clients that
    /// resume.
    private static let life = Duration.seconds(3600)

    let shard: APIShard
    let app: AppID

    private func keys(of log: EventLog) -> ChannelKeys {
        switch log {
        case .users: ChannelKeys(ChannelKey(app: app, name: ChannelName(.userOnline)))
        case .members: ChannelKeys(ChannelKey(app: app, name: ChannelName(.channelEvent)))
        case .channels: ChannelKeys(.channels, of: app)
        case .calls: ChannelKeys(.calls, of: app)
        case .messages: ChannelKeys(.messages, of: app)
        }
    }

    /// Has the services write events into logs, though no member of the special channels is there.
    /// - Returns: since when they have done so.
    func announce(in logs: Set<EventLog>) async throws(SignalingError) -> AnnouncedSince {
        var since: AnnouncedSince = [:]
        for log in logs { since[log] = try await announce(in: keys(of: log)) }
        return since
    }

    private func announce(in keys: ChannelKeys) async throws(SignalingError) -> Int64 {
        let key = keys.followed
        let now = try await shard.redis.time(ofSlot: KeySpace.slot(of: .tagged(keys.tag)))
        let life = RedisArgument.milliseconds(Self.life)
        let replies = try await shard.redis.answers(to: [
            RedisCommand("SET", key: key, .time(now), "PX", life, "NX", "GET"), RedisCommand("PEXPIRE", key: key, life),
        ])
        return (replies[0].string.flatMap { RedisTime(text: $0) } ?? now).milliseconds * 1000
    }

    /// Where logs end.
    func latest(of logs: Set<EventLog>) async throws(SignalingError) -> [EventLog: ChannelPosition] {
        let end = ChannelPosition(sequence: 0, id: 1 << 53)
        var latest: [EventLog: ChannelPosition] = [:]
        for log in logs { latest[log] = try await shard.readLog(keys(of: log), after: end).latest }
        return latest
    }

    /// Reads on.
    /// - Returns: what to send, and whether there is more already. Nothing while Redis does not answer.
    func read(_ feed: inout EventFeed) async -> (text: String, hasMore: Bool) {
        do throws(SignalingError) {
            var pages: [EventLog: ChannelLogPage] = [:]
            for log in feed.logs {
                pages[log] = try await shard.readLog(keys(of: log), after: feed.place(in: log))
            }
            return (feed.lines(pages), pages.values.contains(where: \.more))
        } catch {
            return ("", false)
        }
    }
}
