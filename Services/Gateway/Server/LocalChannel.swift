internal import CoreMetrics
internal import GatewayLogic
internal import NIOCore
internal import SignalingProtocol
internal import SignalingWire

/// A channel that has members at this shard: who they are here, and the order of what they are shown. Loop-bound.
final class LocalChannel {
    let key: ChannelKey
    private(set) var members: [ClientConnection] = []
    var feed = ChannelFeed()
    /// Delivered at the end of the present read from Redis, joined into one write per member.
    private var batch: [ChannelEvent] = []
    private(set) var isSubscribed = false
    private var waiters: [(Bool) -> Void] = []

    init(key: ChannelKey) { self.key = key }

    /// Calls back when the subscription stands, or has failed.
    func whenSubscribed(_ callback: @escaping (Bool) -> Void) {
        if isSubscribed { callback(true) } else { waiters.append(callback) }
    }

    func subscribed(_ success: Bool) {
        isSubscribed = success
        let called = waiters
        waiters = []
        for waiter in called { waiter(success) }
    }

    var hasWaiters: Bool { !waiters.isEmpty }

    func add(_ member: ClientConnection) {
        member.channelSlot = members.count
        members.append(member)
    }

    /// Takes a member out; its slot goes to the last one.
    func remove(_ member: ClientConnection) {
        let slot = member.channelSlot
        guard slot < members.count, members[slot] === member else { return }
        members[slot] = members[members.count - 1]
        members[slot].channelSlot = slot
        members.removeLast()
    }

    /// The joiner's answer was written: shows it what was held above `sequence` (0: the joining point is unknown, all).
    func activate(_ member: ClientConnection, after sequence: Int64) {
        if sequence > 0 { feed.joined(at: sequence) }
        let held = member.membership?.activate(after: sequence) ?? []
        if !held.isEmpty { show(held, to: member) }
    }

    /// The answer that the member's events waited for was written.
    func resume(_ member: ClientConnection) {
        let held = member.membership?.resume() ?? []
        if !held.isEmpty { show(held, to: member) }
    }

    /// Collects events for ``flush()``.
    /// - Returns: whether the batch was empty before.
    func collect(_ events: [ChannelEvent]) -> Bool {
        let wasEmpty = batch.isEmpty
        batch.append(contentsOf: events)
        return wasEmpty
    }

    /// Writes the collected events to every member.
    func flush() {
        guard let first = batch.first else { return }
        let events = batch
        batch = []
        let movers = Set(events.filter(\.isMove).map(\.account))
        let (frames, lastID) = encode(events, lowestID: first.id)
        var tooSlow: [ClientConnection] = []
        for member in members {
            guard let shownAfter = member.membership?.shownAfter else {
                if member.membership?.hold(events) == false { tooSlow.append(member) }
                continue
            }
            guard member.isWritable else {
                tooSlow.append(member)
                continue
            }
            let isNamed = !movers.isEmpty && member.account.map(movers.contains) == true
            if shownAfter < first.sequence, member.lastEventID < first.id, !isNamed {
                member.lastEventID = lastID
                member.send(frames)
            } else {
                show(events.filter { $0.sequence > shownAfter }, to: member)
            }
        }
        GatewayMetrics.deliveries.increment(by: Int64(members.count * events.count))
        for member in tooSlow { member.cutOff() }
    }

    /// Writes events to one member, under ids that rise on its connection.
    ///
    /// A user's own joining and leaving are told by the answers, never as events.
    func show(_ events: [ChannelEvent], to member: ClientConnection) {
        let events = events.filter { !$0.isMove || $0.account != member.account }
        guard let first = events.first else { return }
        let (frames, lastID) = encode(events, lowestID: max(first.id, member.lastEventID + 1))
        member.send(frames)
        member.lastEventID = lastID
    }

    private func encode(_ events: [ChannelEvent], lowestID: Int64) -> (frames: ByteBuffer, lastID: Int64) {
        var frames = ByteBufferAllocator().buffer(capacity: events.count * 512)
        var lowest = lowestID
        for event in events {
            let id = max(event.id, lowest)
            lowest = id + 1
            frames.writeTextFrame(ServerFrame.channelEvent(event, channel: key.name, id: id))
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
