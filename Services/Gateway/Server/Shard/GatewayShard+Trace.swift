internal import BusProtocol
internal import ClusterState
internal import GatewayLogic
internal import Logging
internal import Pacing
internal import RedisClient
internal import ServiceKit
internal import SignalingProtocol

/// Tells those who follow a user (`heliographctl trace`) what happens on the user's connections.
extension GatewayShard {
    /// Follows a user from now on.
    func follow(_ order: TraceOrder) {
        guard traced.follow(order, now: .now) else {
            return logger.warning(
                "a user is not followed: too many are",
                metadata: ["bound": "\(TracedUsers.bound)", "trace": "\(order.id)"])
        }
    }

    /// Tells of an event, and of the frames that it has sent.
    /// - Parameter address: what the client connects from, for people.
    func trace(_ event: SessionEvent, _ actions: SessionActions, of user: UserKey, from address: String) {
        guard traced.follows(user) else { return }
        if let text = event.traced(from: address) { tell(text, of: user) }
        for case .send(let frame, _) in actions.all {
            if let text = TracedFrame.summary(frame) { tell(text, of: user) }
        }
    }

    private func tell(_ text: String, of user: UserKey) {
        for telling in traced.tellings(of: user, now: .now) {
            let gap = telling.leftOut > 0 ? "(\(telling.leftOut) entries left out) " : ""
            let entry = TraceEntry(time: WallClock.milliseconds, gateway: id, text: gap + text)
            // Nobody waits for it: whoever follows sees a gap when Redis is away.
            redis.send(
                RedisCommand(
                    redis.bus.publishing, key: KeySpace.topic(ofTrace: telling.id, of: user), .bytes(entry.payload))
            ) { _ in }
        }
    }
}
