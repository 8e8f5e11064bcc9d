internal import CoreMetrics
internal import GatewayLogic
internal import NIOCore
internal import SignalingProtocol
internal import SignalingWire
internal import WebSocketWire

/// A channel that has members at this shard: its subscription, the order of its events, and when its members are told.
final class LocalChannel {
    let key: ChannelKey
    /// Its members here.
    let fanout: ChannelFanout
    var feed = ChannelFeed()
    /// Events of the present read from Redis; at its end they are written to each member at once.
    private var batch: [ChannelEvent] = []
    /// Whether ``endCollecting(on:)`` is to come.
    private var isCollecting = false
    private var pacing = MovePacing()
    private var isPostponed = false
    private var subscription = Subscription.none
    private var waiters: [(Bool) -> Void] = []

    private enum Subscription {
        /// Not asked for, or not confirmed in time: it may still come, and whoever needs it asks again. Goes to `pending`.
        case none
        /// Asked for. Goes to `standing`, `none`.
        case pending
        /// Confirmed; renewed by the subscriber.
        case standing
    }

    init(key: ChannelKey) {
        self.key = key
        fanout = ChannelFanout(key.name)
    }

    /// Calls back when the subscription stands, or has failed; at once when none is under way. The subscriber answers within
    /// its time, whatever becomes of Redis.
    func whenSubscribed(_ callback: @escaping (Bool) -> Void) {
        switch subscription {
        case .standing: callback(true)
        case .pending: waiters.append(callback)
        case .none: callback(false)
        }
    }

    /// Whether the subscription is to be asked for, now.
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

    /// Collects events of the present read.
    /// - Returns: whether ``endCollecting(on:)`` is to be called at its end; true once a read.
    func collect(_ events: [ChannelEvent]) -> Bool {
        batch.append(contentsOf: events)
        defer { isCollecting = true }
        return !isCollecting
    }

    /// The end of the read: writes the collected events, now or, if they only tell who came and went, when it is time.
    func endCollecting(on shard: isolated GatewayShard) {
        isCollecting = false
        let until = pacing.postponement(of: batch.count, onlyMoves: batch.allSatisfy(\.isMove), now: Self.now)
        guard let until else { return flush(on: shard) }
        guard !isPostponed else { return }
        isPostponed = true
        shard.eventLoop.assumeIsolated().scheduleTask(deadline: .uptimeNanoseconds(UInt64(until))) { [self] in
            isPostponed = false
            flush(on: shard)
        }
    }

    /// Writes the collected events to every member.
    private func flush(on shard: isolated GatewayShard) {
        guard !batch.isEmpty else { return }
        let start = Self.now
        let events = batch
        batch = []
        fanout.write(events, on: shard)
        pacing.wrote(from: start, to: Self.now)
    }

    private static var now: Int64 { Int64(NIODeadline.now().uptimeNanoseconds) }
}

extension ChannelEvent {
    /// Whether somebody came or went.
    var isMove: Bool {
        switch kind {
        case .joined, .left: true
        case .message, .attributes: false
        }
    }
}
