internal import NIOCore
internal import RedisStore
public import SignalingProtocol
internal import SignalingWire

extension MessageStore {
    /// Reads a channel's events above a sequence number, on the loop.
    /// - Parameter limit: events at most, the earliest.
    public func readLog(
        _ channel: ChannelKey, after sequence: Int64, limit: Int,
        _ completion: @escaping (Result<ChannelLogPage, SignalingError>) -> Void
    ) {
        perform(
            .function("channel_log_after", tag: KeySpace.tag(channel), .int64(sequence), .int(limit)), Self.log,
            completion)
    }

    /// Reads a channel's events above a `channel2` id, on the loop: what a client that resumes has missed.
    /// - Parameter limit: events at most; when there are more, the latest, and the page is not complete.
    public func readLog(
        _ channel: ChannelKey, afterID id: Int64, limit: Int,
        _ completion: @escaping (Result<ChannelLogPage, SignalingError>) -> Void
    ) {
        perform(
            .function("channel_log_after_id", tag: KeySpace.tag(channel), .int64(id), .int(limit)), Self.log, completion
        )
    }

    private static func log(_ reply: RedisValue) -> ChannelLogPage? {
        guard let parts = reply.array, parts.count >= 2, let sequence = parts[0].int, let complete = parts[1].int else {
            return nil
        }
        var events: [SignalingProtocol.ChannelEvent] = []
        events.reserveCapacity(parts.count - 2)
        for part in parts.dropFirst(2) {
            guard let buffer = part.buffer,
                let event = try? SignalingProtocol.ChannelEvent(payload: buffer.readableBytesView)
            else {
                return nil
            }
            events.append(event)
        }
        return ChannelLogPage(events: events, sequence: sequence, complete: complete == 1)
    }
}
