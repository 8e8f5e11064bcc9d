internal import ClusterState
internal import Metrics
internal import NIOCore
internal import RedisStore
package import SignalingProtocol
internal import SignalingWire

extension MessageStore {
    /// Events that could not be read, and were left out.
    private static let unreadable = Counter(label: "heliograph_channel_events_unreadable_total")

    /// Reads a channel's events above a position, on the loop: what a gateway, or a client that resumes, has missed.
    ///
    /// The earliest of them, and 128 KiB at most; ``ChannelLogPage/more`` tells whether to read on.
    /// - Parameters:
    ///   - position: its sequence may be 0, not known.
    ///   - limit: events at most.
    package func readLog(
        _ channel: ChannelKey, after position: ChannelPosition, limit: Int = 2000,
        _ completion: @escaping (Result<ChannelLogPage, SignalingError>) -> Void
    ) {
        perform(
            .function(
                "channel_log", tag: KeySpace.tag(channel), .int64(position.id), .int64(position.sequence), .int(limit)),
            Self.log, completion)
    }

    /// Tells the functions that Redis has been running without a gap; called on the loop each second, even without traffic.
    /// After a gap, which may have been a failover, the versions of mailboxes jump to the clock.
    package func keepNumbers() {
        // A failure is such a gap.
        connection.send(.function("messages_awake", keys: [], arguments: [])) { _ in }
    }

    private static func log(_ reply: RedisValue) -> ChannelLogPage? {
        guard let parts = reply.array, parts.count >= 6 else { return nil }
        let numbers = parts.prefix(6).compactMap(\.int)
        guard numbers.count == 6 else { return nil }
        var events: [SignalingProtocol.ChannelEvent] = []
        events.reserveCapacity(parts.count - 6)
        for part in parts.dropFirst(6) {
            guard let buffer = part.buffer,
                let event = try? SignalingProtocol.ChannelEvent(payload: buffer.readableBytesView)
            else {
                // An event that a newer release wrote must not hide the others.
                unreadable.increment()
                continue
            }
            events.append(event)
        }
        return ChannelLogPage(
            events: events, latest: ChannelPosition(sequence: numbers[0], id: numbers[1]), complete: numbers[2] == 1,
            through: ChannelPosition(sequence: numbers[4], id: numbers[5]), more: numbers[3] == 1)
    }
}
