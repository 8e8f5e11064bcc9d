internal import CoreMetrics
internal import GatewayLogic
internal import NIOCore
internal import SignalingProtocol
internal import SignalingWire
internal import WebSocketWire

/// A channel that has members at this shard: who they are here, and the order of what they are shown. Loop-bound.
final class LocalChannel {
    let key: ChannelKey
    private(set) var members: [ClientConnection] = []
    /// By member: the socket to write a whole batch to, or ``closed``: look closer.
    ///
    /// A lane is open only for a member that is shown everything from now on under the channel's own ids, whose socket
    /// takes it: then a delivery is one system call and touches nothing else of the member.
    private var lanes: [NIOBSDSocket.Handle] = []
    private static let closed: NIOBSDSocket.Handle = -1
    /// The last `channel2` id that was written to the open lanes.
    private var lastID: Int64 = 0
    var feed = ChannelFeed()
    /// Delivered at the end of the present read from Redis, joined into one write per member.
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

    init(key: ChannelKey) { self.key = key }

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

    func add(_ member: ClientConnection) {
        member.channelSlot = members.count
        members.append(member)
        lanes.append(Self.closed)
    }

    /// Takes a member out; its slot goes to the last one.
    func remove(_ member: ClientConnection) {
        let slot = member.channelSlot
        guard slot < members.count, members[slot] === member else { return }
        closeLane(of: member)
        members[slot] = members[members.count - 1]
        members[slot].channelSlot = slot
        members.removeLast()
        lanes[slot] = lanes[lanes.count - 1]
        lanes.removeLast()
    }

    /// The member needs a closer look before it is written to again. To be called before anything but a batch is shown to it.
    func closeLane(of member: ClientConnection) {
        let slot = member.channelSlot
        guard slot < members.count, members[slot] === member, lanes[slot] != Self.closed else { return }
        lanes[slot] = Self.closed
        member.lastEventID = max(member.lastEventID, lastID)
    }

    /// The joiner's answer was written: shows it what was held above `position` (nil: the joining point is unknown, all).
    func activate(_ member: ClientConnection, after position: ChannelPosition?) {
        // A channel that is gone has no numbers.
        if let position, position.sequence > 0 { feed.joined(at: position) }
        let held = member.membership?.activate(after: position?.id ?? 0) ?? []
        if !held.isEmpty { show(held, to: member) }
    }

    /// The answer that the member's events waited for was written.
    func resume(_ member: ClientConnection) {
        let held = member.membership?.resume() ?? []
        if !held.isEmpty { show(held, to: member) }
    }

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
        writeBatch(on: shard)
        pacing.wrote(from: start, to: Self.now)
    }

    private static var now: Int64 { Int64(NIODeadline.now().uptimeNanoseconds) }

    private func writeBatch(on shard: isolated GatewayShard) {
        guard let first = batch.first else { return }
        let events = batch
        batch = []
        let movers = Set(events.filter(\.isMove).map(\.account))
        for member in members where !movers.isEmpty && member.account.map(movers.contains) == true {
            closeLane(of: member)
        }
        let (frames, lastID) = encode(events, lowestID: max(first.id, self.lastID + 1))
        let closer = writeToLanes(frames)
        self.lastID = lastID
        var tooSlow: [ClientConnection] = []
        // Members may leave by the way: their connection may turn out to be broken.
        for (member, taken) in closer where member.channel === self {
            if let taken {
                // The lane took a part: the rest follows on the long way.
                closeLane(of: member)
                member.outlet.sendRest(of: frames, after: taken)
            } else if !show(Batch(events: events, frames: frames, lastID: lastID, movers: movers), to: member) {
                tooSlow.append(member)
            }
        }
        GatewayMetrics.deliveries.increment(by: Int64(members.count * events.count))
        for member in tooSlow { member.cutOff(.heldEvents, on: shard) }
    }

    /// Writes to every open lane.
    /// - Returns: the members that want a closer look, and how much the lane took; nil where it was closed.
    private func writeToLanes(_ frames: ByteBuffer) -> [(member: ClientConnection, taken: Int?)] {
        var closer: [(member: ClientConnection, taken: Int?)] = []
        frames.withUnsafeReadableBytes { bytes in
            for slot in lanes.indices {
                let lane = lanes[slot]
                guard lane != Self.closed else {
                    closer.append((members[slot], nil))
                    continue
                }
                let taken = FrameLane.write(bytes, to: lane)
                if taken != bytes.count { closer.append((members[slot], taken)) }
            }
        }
        return closer
    }

    private struct Batch {
        let events: [ChannelEvent]
        let frames: ByteBuffer
        let lastID: Int64
        let movers: Set<Account>
    }

    /// Shows a batch to a member whose lane is closed, and opens it if it can be.
    /// - Returns: false when more waits for the member's answer than is kept.
    private func show(_ batch: Batch, to member: ClientConnection) -> Bool {
        guard let shownAfter = member.membership?.shownAfter else {
            return member.membership?.hold(batch.events) ?? true
        }
        let isNamed = !batch.movers.isEmpty && member.account.map(batch.movers.contains) == true
        guard let first = batch.events.first, shownAfter < first.id, member.lastEventID < first.id, !isNamed
        else {
            show(batch.events.filter { member.membership?.shows($0) == true }, to: member)
            return true
        }
        member.lastEventID = batch.lastID
        member.outlet.send(batch.frames)
        if let lane = member.outlet.lane, member.channel === self { lanes[member.channelSlot] = lane }
        return true
    }

    /// Writes events to one member, under ids that rise on its connection.
    ///
    /// A user's own joining and leaving are told by the answers, never as events.
    func show(_ events: [ChannelEvent], to member: ClientConnection) {
        let events = events.filter { !$0.isMove || $0.account != member.account }
        guard let first = events.first else { return }
        closeLane(of: member)
        let (frames, lastID) = encode(events, lowestID: max(first.id, member.lastEventID + 1))
        member.outlet.send(frames)
        member.lastEventID = lastID
    }

    private func encode(_ events: [ChannelEvent], lowestID: Int64) -> (frames: ByteBuffer, lastID: Int64) {
        var frames = ByteBufferAllocator().buffer(capacity: events.count * 512)
        var lowest = lowestID
        for event in events {
            let id = max(event.id, lowest)
            lowest = id + 1
            frames.writeWebSocketFrame(.text, ServerFrame.channelEvent(event, channel: key.name, id: id))
        }
        return (frames, lowest - 1)
    }
}

extension ChannelEvent {
    /// Whether somebody came or went.
    fileprivate var isMove: Bool {
        switch kind {
        case .joined, .left: true
        case .message, .attributes: false
        }
    }
}
