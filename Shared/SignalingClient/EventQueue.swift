internal import DequeModule
internal import Synchronization

/// The events of a client, in order, each once, for one consumer. Ends after the last event.
///
/// When ``ClientConfiguration/eventBound`` events wait here, the client stops reading from its gateway until half of them
/// are taken: take events while you wait for answers to calls.
public struct SignalingEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = SignalingEvent
    /// Iteration does not fail.
    public typealias Failure = Never

    let queue: EventQueue

    /// Takes the events from here on.
    public func makeAsyncIterator() -> Iterator { Iterator(queue: queue) }

    /// Takes one event after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let queue: EventQueue

        /// The next event; nil after the last one, and when the task is cancelled.
        public mutating func next() async -> SignalingEvent? { await queue.next() }

        /// The next event; nil after the last one, and when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> SignalingEvent? {
            await queue.next()
        }
    }
}

/// What waits between the event loop and the consumer. Bounded by the driver, which stops reading.
final class EventQueue: Sendable {
    private typealias Consumer = CheckedContinuation<SignalingEvent?, Never>

    private struct State {
        var events: Deque<SignalingEvent> = []
        var isFinished = false
        var consumer: Consumer?
        /// Taken and not reported yet.
        var taken = 0

        mutating func takeConsumer() -> Consumer? {
            let waiting = consumer
            consumer = nil
            return waiting
        }
    }

    private let state = Mutex(State())
    private let onTaken = Mutex<(@Sendable (Int) -> Void)?>(nil)
    private let batch: Int

    /// - Parameter bound: the driver's bound; events taken are reported in parts of a quarter of it, or less.
    init(bound: Int) { batch = max(1, min(32, bound / 4)) }

    /// Calls back when events were taken.
    func whenTaken(_ callback: @escaping @Sendable (Int) -> Void) { onTaken.withLock { $0 = callback } }

    func append(_ event: SignalingEvent) {
        let isLast =
            switch event {
            case .loginFailed, .loggedOut: true
            default: false
            }
        let consumer = state.withLock { state in
            if isLast { state.isFinished = true }
            guard let consumer = state.consumer else {
                state.events.append(event)
                return nil as Consumer?
            }
            state.consumer = nil
            return consumer
        }
        guard let consumer else { return }
        consumer.resume(returning: event)
        taken()
    }

    func next() async -> SignalingEvent? {
        let event = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in wait(continuation) }
        } onCancel: {
            state.withLock { $0.takeConsumer() }?.resume(returning: nil)
        }
        return event
    }

    private func wait(_ continuation: Consumer) {
        let (event, isDone, earlier): (SignalingEvent?, Bool, Consumer?) = state.withLock { state in
            if let event = state.events.popFirst() { return (event, true, nil) }
            // Asked under the lock: a cancellation that comes later finds the consumer.
            if state.isFinished || Task.isCancelled { return (nil, true, nil) }
            let earlier = state.takeConsumer()
            state.consumer = continuation
            return (nil, false, earlier)
        }
        // A second consumer takes the first one's place, which ends.
        earlier?.resume(returning: nil)
        if isDone { continuation.resume(returning: event) }
        if event != nil { taken() }
    }

    private func taken() {
        let count = state.withLock { state in
            state.taken += 1
            guard state.taken >= batch else { return 0 }
            defer { state.taken = 0 }
            return state.taken
        }
        if count > 0 { onTaken.withLock { $0 }?(count) }
    }
}
