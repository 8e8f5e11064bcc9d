internal import GatewayLogic
internal import NIOCore
internal import ServiceMetrics
internal import SignalingProtocol
internal import SignalingWire
internal import WebSocketWire

/// Writes a channel's events to its members on one shard.
///
/// A member's ``ClientSession`` decides which events it receives, by the actions `hold`, `showAll` and `show`. For a
/// member that receives every event, the session is not asked.
final class ChannelFanout {
    /// The delivery state of one connection.
    struct Progress {
        /// The account under which the connection is in the channel.
        fileprivate var account: Account?
        /// The last `channel2` id that was written to the client, not counting an open lane. Ids only rise on a
        /// connection, even when it changes channels.
        fileprivate var lastID: Int64 = 0
        /// The client receives all events above this id; nil while its session decides about each.
        fileprivate var shownAfter: Int64?
        /// Index of the connection in `members`; narrow, because every connection has one.
        private var narrowSlot: Int32 = 0
        fileprivate var slot: Int {
            get { Int(narrowSlot) }
            set { narrowSlot = Int32(newValue) }
        }
    }

    private let name: ChannelName
    private(set) var members: [ClientConnection] = []
    /// Parallel to `members`: the raw socket for the fast path, or ``LaneWriter/closed`` when the member needs
    /// individual handling.
    ///
    /// A lane is open only for a member that receives every event from now on under the channel's own ids and whose
    /// socket accepts data. A delivery then touches no other memory of the member.
    private var lanes: [NIOBSDSocket.Handle] = []
    /// The last `channel2` id that was written to the open lanes.
    private var lastID: Int64 = 0

    init(_ name: ChannelName) { self.name = name }

    func add(_ member: ClientConnection, as account: Account) {
        member.progress.slot = members.count
        member.progress.account = account
        member.progress.shownAfter = nil
        members.append(member)
        lanes.append(LaneWriter.closed)
    }

    /// Removes a member; the last member moves to its slot.
    func remove(_ member: ClientConnection) {
        let slot = member.progress.slot
        guard slot < members.count, members[slot] === member else { return }
        closeLane(of: member)
        members[slot] = members[members.count - 1]
        members[slot].progress.slot = slot
        members.removeLast()
        lanes[slot] = lanes[lanes.count - 1]
        lanes.removeLast()
    }

    /// Takes a member off the fast path until it is up to date again. Must be called before anything but a batch is
    /// written to the member.
    func closeLane(of member: ClientConnection) {
        let slot = member.progress.slot
        guard slot < members.count, members[slot] === member, lanes[slot] != LaneWriter.closed else { return }
        lanes[slot] = LaneWriter.closed
        member.progress.lastID = max(member.progress.lastID, lastID)
    }

    /// From now on the member's session decides about every event.
    func hold(_ member: ClientConnection) {
        closeLane(of: member)
        member.progress.shownAfter = nil
    }

    /// From now on the member receives all events above this id, without asking its session.
    func showAll(after id: Int64, to member: ClientConnection) { member.progress.shownAfter = id }

    /// Gives the member's events ids above this one.
    func continueIDs(after id: Int64, for member: ClientConnection) { member.progress.lastID = id }

    /// Writes events to every member.
    func write(_ events: [ChannelEvent], on shard: isolated GatewayShard) {
        guard let first = events.first else { return }
        let movers = Set(events.filter(\.isMove).map(\.account))
        for member in members where !movers.isEmpty && member.progress.account.map(movers.contains) == true {
            closeLane(of: member)
        }
        let (frames, lastID) = encode(events, lowestID: max(first.id, self.lastID + 1))
        shard.gatherer.flush()
        let closer = writeToLanes(frames, by: shard.lanes)
        self.lastID = lastID
        GatewayMetrics.shared.deliveries.increment(by: members.count * events.count)
        let batch = Batch(events: events, frames: frames, lastID: lastID, movers: movers)
        // A write may reveal that a connection is broken; its member then leaves the channel.
        for (member, taken) in closer where member.channel?.fanout === self {
            guard let taken else {
                show(batch, to: member, on: shard)
                continue
            }
            closeLane(of: member)
            if taken == LaneWriter.unknown {
                member.outlet.closeAtOnce()
            } else {
                // The socket has accepted a part: NIO writes the rest.
                member.outlet.sendRest(of: frames, after: Int(taken))
            }
        }
    }

    /// Writes to all open lanes.
    /// - Returns: the members that need individual handling, with the number of bytes that their lane accepted; nil
    ///   where it was closed.
    private func writeToLanes(_ frames: ByteBuffer, by writer: LaneWriter) -> [(member: ClientConnection, taken: CInt?)]
    {
        var closer: [(member: ClientConnection, taken: CInt?)] = []
        frames.withUnsafeReadableBytes { bytes in
            let taken = writer.write(bytes, to: lanes)
            for slot in lanes.indices {
                if lanes[slot] == LaneWriter.closed {
                    closer.append((members[slot], nil))
                } else if taken[slot] != bytes.count {
                    closer.append((members[slot], taken[slot]))
                }
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

    /// Writes a batch to a member whose lane is closed, and opens the lane if possible.
    private func show(_ batch: Batch, to member: ClientConnection, on shard: isolated GatewayShard) {
        let isNamed = !batch.movers.isEmpty && member.progress.account.map(batch.movers.contains) == true
        guard let first = batch.events.first, let shownAfter = member.progress.shownAfter, shownAfter < first.id,
            member.progress.lastID < first.id, !isNamed
        else { return member.handle(.channel(.published(batch.events)), on: shard) }
        member.progress.lastID = batch.lastID
        member.outlet.send(batch.frames)
        if let lane = member.outlet.lane, member.channel?.fanout === self { lanes[member.progress.slot] = lane }
    }

    /// Writes events to one member, with ids that increase on its connection.
    ///
    /// A user's own joins and leaves are reported by the answers, never as events.
    func show(_ events: [ChannelEvent], to member: ClientConnection) {
        write(events.filter { !$0.isMove || $0.account != member.progress.account }, to: member)
    }

    /// Writes an event that the member has not caused to this member alone, though it is about the member.
    func showOwn(_ event: ChannelEvent, to member: ClientConnection) { write([event], to: member) }

    private func write(_ events: [ChannelEvent], to member: ClientConnection) {
        guard let first = events.first else { return }
        closeLane(of: member)
        let (frames, lastID) = encode(events, lowestID: max(first.id, member.progress.lastID + 1))
        member.outlet.send(frames)
        member.progress.lastID = lastID
    }

    private func encode(_ events: [ChannelEvent], lowestID: Int64) -> (frames: ByteBuffer, lastID: Int64) {
        var frames = ByteBufferAllocator().buffer(capacity: events.count * 512)
        var lowest = lowestID
        for event in events {
            let id = max(event.id, lowest)
            lowest = id + 1
            frames.writeWebSocketFrame(.text, ServerFrame.channelEvent(event, channel: name, id: id))
        }
        return (frames, lowest - 1)
    }
}
