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
    /// Events from the current read of the Redis socket; written to all members together when it ends.
    private var batch: [ChannelEvent] = []
    /// Whether ``endCollecting(on:)`` will be called.
    private var isCollecting = false
    private var coalescing = JoinLeaveCoalescing()
    private var isPostponed = false
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

    init(key: ChannelKey) {
        self.key = key
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
        defer { isCollecting = true }
        return !isCollecting
    }

    /// Calls back when the events up to a sequence number have been written to the members: at once, unless some of
    /// them are being collected or have not come yet. In a cluster a service's answer comes over another connection
    /// than the events that were published before it.
    func whenWritten(
        through sequence: Int64, on shard: isolated GatewayShard, _ callback: @escaping () -> Void
    ) {
        guard isCollecting || feed.last.map({ $0.sequence < sequence }) ?? false else { return callback() }
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

    /// Called at the end of the read: writes the collected events, or postpones them when they are only joins and
    /// leaves.
    func endCollecting(on shard: isolated GatewayShard) {
        isCollecting = false
        defer { tellWritten() }
        let until = coalescing.postponement(
            of: batch.count, onlyJoinsAndLeaves: batch.allSatisfy(\.isMove), now: .now)
        guard let until else { return flush(on: shard) }
        guard !isPostponed else { return }
        isPostponed = true
        shard.eventLoop.assumeIsolated().scheduleTask(deadline: until.deadline) { [self] in
            isPostponed = false
            flush(on: shard)
        }
    }

    /// Writes the collected events to all members.
    private func flush(on shard: isolated GatewayShard) {
        guard !batch.isEmpty else { return }
        let start = LocalTime.now
        let events = batch
        batch = []
        fanout.write(events, on: shard)
        let messages = events.count(where: \.isMessage)
        if messages > 0 { shard.usage.delivered(messages * fanout.members.count, in: key.app) }
        coalescing.wrote(from: start, to: .now)
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

    /// Whether the event is a join or a leave.
    var isMove: Bool {
        switch kind {
        case .joined, .left: true
        case .message, .attributes: false
        }
    }
}
