internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import NIOCore
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Puts messages that have just been sent into the stream from which they are told as events
/// (`Docs/decisions/0026-webhooks.md`). On the connection's loop only.
struct MessageMirror {
    private static let lost = Counter(
        "heliograph_message_events_lost_total",
        "Messages that are not told as events, because too many waited for an invitation process or PostgreSQL.")

    private let connection: RedisClient

    init(connection: RedisClient) {
        self.connection = connection
        // Shown from the start.
        Self.lost.increment(by: 0)
    }

    /// Appends messages, all or none. Completes once, with an error when they may not be there; their senders must then
    /// not be told that they are sent. Appended again, a message makes the same event.
    /// - Parameters:
    ///   - slot: that of the messages' receivers; the entries go to the same server, so that no other has to answer.
    ///   - until: how long the command is sent again when the connection breaks.
    func append(
        _ messages: [MessageMirrorRow], slot: UInt16, until: NIODeadline,
        _ completion: @escaping (SignalingError?) -> Void
    ) {
        if messages.isEmpty { return completion(nil) }
        let partition = connection.bus.partition(ofSlot: slot)
        let command = MirrorStream.recording(messages, in: partition).durable
        connection.send(command, repeatedUntil: until) { reply in
            switch reply {
            case .success(let answer):
                Self.lost.increment(by: Int(answer.int ?? 0))
                completion(nil)
            // Not why: other reasons would say that the message was not sent.
            case .failure: completion(.timeout())
            }
        }
    }
}
