package import BusProtocol
package import ClusterState
internal import NIOCore
internal import RedisClient
internal import ServiceMetrics
package import SignalingProtocol

extension MessageStore {
    /// Reads a channel's events after a position: those that a gateway, or a client that
    /// resumes, has missed. On the loop only.
    ///
    /// Returns the earliest of them, at most 128 KiB; ``ChannelLogPage/more`` tells whether to read on.
    /// - Parameters:
    ///   - position: where to start; its sequence may be 0 when it is unknown.
    ///   - limit: the largest number of events.
    package func readLog(
        _ channel: ChannelKey, after position: ChannelPosition, limit: Int = 2000,
        _ completion: @escaping (Result<ChannelLogPage, SignalingError>) -> Void
    ) {
        readLog(ChannelKeys(channel), after: position, limit: limit, completion)
    }

    /// The same for a log that only the server API reads too.
    package func readLog(
        _ keys: ChannelKeys, after position: ChannelPosition, limit: Int = 2000,
        _ completion: @escaping (Result<ChannelLogPage, SignalingError>) -> Void
    ) {
        perform(
            .function(
                "channel_log", tag: keys.tag, .int64(position.id), .int64(position.sequence), .int(limit)),
            Self.log, completion)
    }

    /// Reads a channel's events backwards: the latest between two ids, descending, at most 128 KiB.
    ///
    /// ``ChannelLogPage/complete`` is false when nothing more follows and events above the lower id may be missing.
    /// - Parameters:
    ///   - id: only events below it are returned; 0 for all.
    ///   - lower: only events above it are returned.
    ///   - limit: the largest number of events.
    package func readLogBack(
        _ channel: ChannelKey, before id: Int64, above lower: Int64, limit: Int = 2000
    ) async throws(SignalingError) -> ChannelLogPage {
        try await perform(
            .function("channel_log_back", tag: KeySpace.tag(channel), .int64(id), .int64(lower), .int(limit)), Self.log)
    }

    /// Tells the functions that Redis has been running without interruption; to be called on the loop every second,
    /// even without traffic. After an interruption, which may have been a failover, the functions raise the
    /// mailboxes' versions to the clock.
    package func keepNumbers() {
        // A failed call counts as an interruption, so there is nothing else to do.
        for slot in connection.slotsOfMasters {
            connection.send(.function("messages_awake", keys: [], arguments: []).inSlot(slot)) { _ in }
        }
    }

    private static func log(_ reply: RedisValue) -> ChannelLogPage? {
        guard let parts = reply.array, parts.count >= 6 else { return nil }
        let numbers = parts.prefix(6).compactMap(\.int)
        guard numbers.count == 6 else { return nil }
        var events: [SignalingProtocol.ChannelEvent] = []
        events.reserveCapacity(parts.count - 6)
        for part in parts.dropFirst(6) {
            // The other events are delivered even if one cannot be parsed.
            switch part.buffer.flatMap({ try? ChannelPublication(payload: $0.readableBytesView) }) {
            case .event(let event): events.append(event)
            case .unknown: EventMetrics.shared.unknown.increment()
            case nil: EventMetrics.shared.unreadable.increment()
            }
        }
        return ChannelLogPage(
            events: events, latest: ChannelPosition(sequence: numbers[0], id: numbers[1]), complete: numbers[2] == 1,
            through: ChannelPosition(sequence: numbers[4], id: numbers[5]), more: numbers[3] == 1)
    }
}
