internal import ClusterState
internal import NIOCore

/// The topics on which a process hears the replies to its commands. In a cluster they are at all masters, and the
/// process can serve before each of them answers.
///
/// Use it on the subscriber's event loop only.
package final class OwnTopics {
    /// How long masters that do not answer are waited for.
    private static let patience = TimeAmount.seconds(1)
    /// The pause between two looks at what is missing after that.
    private static let pause = TimeAmount.milliseconds(50)

    private let subscriber: ClusterSubscriber
    private let redis: RedisClient
    private let onLate: (_ slot: UInt16) -> Void
    /// The topics that are not confirmed. One that is subscribed after its `TIMEOUT` stays here.
    private var missing: Set<String>
    /// The number of topics whose subscription is not answered.
    private var unanswered = 0
    private var refusal: RedisError?
    /// Nil unless ``subscribe(_:)`` is under way.
    private var completion: ((Result<Bool, RedisError>) -> Void)?

    /// Topics that are not subscribed yet; may be called on any thread.
    /// - Parameters:
    ///   - subscriber: whose `onReconnected` is called for topics that are subscribed after their `TIMEOUT`.
    ///   - onLate: called for each topic that is confirmed after ``subscribe(_:)`` has completed: what was
    ///     published there before is lost.
    package init(
        _ topics: some Sequence<String>, of subscriber: ClusterSubscriber, on redis: RedisClient,
        onLate: @escaping (_ slot: UInt16) -> Void
    ) {
        self.subscriber = subscriber
        self.redis = redis
        self.onLate = onLate
        missing = Set(topics)
    }

    /// Subscribes to the topics that are missing. Completes when all are confirmed; after a second, when those of more
    /// than half of the masters are and the other masters do not answer; and when each is confirmed or `TIMEOUT`.
    /// Topics that are missing then are subscribed as soon as their masters are back.
    /// - Parameter completion: gets whether the topics of more than half of the masters are confirmed; if not,
    ///   subscribe again. Or the error with which a topic was refused.
    package func subscribe(_ completion: @escaping (Result<Bool, RedisError>) -> Void) {
        guard !missing.isEmpty else { return completion(.success(true)) }
        self.completion = completion
        refusal = nil
        unanswered = missing.count
        subscriber.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { self.look() }
        for topic in missing { subscriber.subscribe(topic) { self.answered(topic, $0) } }
    }

    private func answered(_ topic: String, _ result: Result<Void, RedisError>) {
        unanswered -= 1
        switch result {
        case .success:
            missing.remove(topic)
            if completion == nil { onLate(KeySlot.of(topic)) }
        case .failure(let error):
            if error.code != .timeout { refusal = error }
        }
        guard unanswered == 0 else { return }
        complete(refusal.map { .failure($0) } ?? .success(areServedByMost { _ in true }))
    }

    private func look() {
        guard completion != nil else { return }
        if areServedByMost(without: { !redis.isReachable(slot: $0) }) { return complete(.success(true)) }
        subscriber.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { self.look() }
    }

    private func complete(_ result: Result<Bool, RedisError>) {
        let completion = completion
        self.completion = nil
        completion?(result)
    }

    /// Whether the topics of more than half of the masters are confirmed, and the slots of all others meet a condition.
    private func areServedByMost(without isExpected: (UInt16) -> Bool) -> Bool {
        let slots = Set(missing.map { KeySlot.of($0) })
        return redis.mostMastersOwnNone(of: slots) && slots.allSatisfy(isExpected)
    }
}
