internal import BusProtocol
internal import ClusterState
internal import GatewayLogic
internal import NIOCore
internal import Pacing
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol
internal import WebSocketWire

/// A channel that has members on this shard: its subscription, the order of its events, and when they are written.
final class LocalChannel {
    let key: ChannelKey
    /// The channel's members on this shard.
    let fanout: ChannelFanout
    var feed = ChannelFeed()
    /// Events that are written to all members together: at the end of the current read of the Redis socket, or of the
    /// channel's pause.
    private var batch: [ChannelEvent] = []
    private var waiting = WritePauses.Waiting()
    /// Whether ``endCollecting(on:)`` will be called.
    private var isCollecting = false
    var pauses: WritePauses
    /// When the batch is written; nil: at the end of a read.
    private var postponedUntil: LocalTime?
    /// How often events have been written, modulo 256.
    private var writes: UInt8 = 0
    private var subscription = Subscription.none
    private var waiters: [(Bool) -> Void] = []
    /// How long an answer waits for events. One that does not come may be lost.
    private static let eventPatience = TimeAmount.seconds(1)
    /// Those who wait until the events up to a sequence number are written, by the order of their coming.
    private var awaiting: [Int: (sequence: Int64, callback: () -> Void)] = [:]
    private var lastAwaiting = 0

    private enum Subscription {
        /// Not requested, or not confirmed in time. A late confirmation is possible; whoever needs the channel requests
        /// again. Goes to `pending`.
        case none
        /// Requested. Goes to `standing`, `none`.
        case pending
        /// Confirmed; after a reconnect the subscriber renews it.
        case standing
    }

    init(key: ChannelKey, longestPause: LocalTime.Span) {
        self.key = key
        pauses = WritePauses(longest: longestPause)
        fanout = ChannelFanout(key.name)
    }

    /// Calls back when the subscription is confirmed or has failed; at once when none is in progress. The subscriber
    /// always responds within its time limit.
    func whenSubscribed(_ callback: @escaping (Bool) -> Void) {
        switch subscription {
        case .standing: callback(true)
        case .pending: waiters.append(callback)
        case .none: callback(false)
        }
    }

    /// Whether the caller must request the subscription now.
    func beginsSubscription() -> Bool {
        guard case .none = subscription else { return false }
        subscription = .pending
        return true
    }

    func subscribed(_ success: Bool) {
        subscription = success ? .standing : .none
        let called = waiters
        waiters = []
        for waiter in called { waiter(success) }
    }

    var hasWaiters: Bool { !waiters.isEmpty }

    /// Collects events from the current read of the socket.
    /// - Returns: whether ``endCollecting(on:)`` must be called when it ends; true once per read.
    func collect(_ events: [ChannelEvent]) -> Bool {
        batch.append(contentsOf: events)
        waiting.add(events)
        defer { isCollecting = true }
        return !isCollecting
    }

    /// Calls back when the messages up to a sequence number have been written to the members: at once, unless some of
    /// them are being collected or have not come yet. In a cluster a service's answer comes over another connection
    /// than the events that were published before it.
    func whenWritten(
        through sequence: Int64, on shard: isolated GatewayShard, _ callback: @escaping () -> Void
    ) {
        guard isCollecting || feed.last.map({ $0.sequence < sequence }) ?? false else {
            writeMessages(on: shard)
            return callback()
        }
        lastAwaiting += 1
        let number = lastAwaiting
        awaiting[number] = (sequence, callback)
        shard.eventLoop.assumeIsolated().scheduleTask(in: Self.eventPatience) { [self] in
            awaiting.removeValue(forKey: number)?.callback()
        }
    }

    private func tellWritten() {
        guard !awaiting.isEmpty, let last = feed.last?.sequence else { return }
        for number in awaiting.filter({ $0.value.sequence <= last }).keys.sorted() {
            awaiting.removeValue(forKey: number)?.callback()
        }
    }

    /// Called at the end of the read: writes the collected events, or postpones them while the channel pauses.
    func endCollecting(on shard: isolated GatewayShard) {
        isCollecting = false
        defer { tellWritten() }
        // Those who wait for an event want the messages before it.
        let isAwaited = waiting.hasMessages && !awaiting.isEmpty
        let now = LocalTime.now
        guard !isAwaited, let end = pauses.end(for: waiting, now: now) else { return flush(on: shard) }
        if let postponedUntil, postponedUntil <= end { return }
        postponedUntil = end
        shard.eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds((end - now).nanoseconds)) { [self] in
            // They may have been written meanwhile, or have got an earlier time when a message came.
            if postponedUntil == end { flush(on: shard) }
        }
    }

    /// Writes what waits, if messages do: a member that leaves receives those that were published before.
    func writeMessages(on shard: isolated GatewayShard) {
        if waiting.hasMessages { flush(on: shard) }
    }

    /// Writes the collected events to all members.
    private func flush(on shard: isolated GatewayShard) {
        postponedUntil = nil
        guard !batch.isEmpty else { return }
        let start = LocalTime.now
        let events = batch
        batch = []
        waiting = WritePauses.Waiting()
        fanout.write(events, on: shard)
        let messages = events.count(where: \.isMessage)
        if messages > 0 { shard.usage.delivered(messages * fanout.members.count, in: key.app) }
        pauses.wrote(from: start, to: .now)
        writes &+= 1
        if writes % 16 == 1 { recordDelay(of: events, on: shard) }
    }

    /// Counts how old the last message was when it was written; joins and leaves may have been postponed.
    private func recordDelay(of events: [ChannelEvent], on shard: isolated GatewayShard) {
        guard let message = events.last(where: { !$0.isMove }),
            let now = shard.redis.clock(ofSlot: KeySpace.slot(of: .channel(key)))?.now
        else { return }
        let delay = now.milliseconds - message.id / 1000
        GatewayMetrics.shared.deliveryDelay.record(nanoseconds: max(0, delay) * 1_000_000)
    }
}

extension ChannelEvent {
    /// Whether the event is a message.
    var isMessage: Bool {
        if case .message = kind { true } else { false }
    }
}
