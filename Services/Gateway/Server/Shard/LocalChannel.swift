internal import CoreMetrics
internal import GatewayLogic
internal import NIOCore
internal import SignalingProtocol
internal import SignalingWire
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
    private var pacing = MovePacing()
    private var isPostponed = false
    private var subscription = Subscription.none
    private var waiters: [(Bool) -> Void] = []

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

    /// Called at the end of the read: writes the collected events, or postpones them when they are only joins and
    /// leaves.
    func endCollecting(on shard: isolated GatewayShard) {
        isCollecting = false
        let until = pacing.postponement(of: batch.count, onlyMoves: batch.allSatisfy(\.isMove), now: .now)
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
        pacing.wrote(from: start, to: .now)
    }
}

extension ChannelEvent {
    /// Whether the event is a join or a leave.
    var isMove: Bool {
        switch kind {
        case .joined, .left: true
        case .message, .attributes: false
        }
    }
}
