/// Sends digits by INFO, one request at a time, each after the response to the previous one.
///
/// If the peer refuses `application/dtmf-relay` (405, 415), `application/dtmf` is tried; if it refuses both, no digits
/// are sent.
package struct DialogInfoQueue: Equatable, Sendable {
    /// What the driver must do.
    package enum Action: Equatable, Sendable {
        /// Send an INFO with this content, then call ``answered(status:)``.
        case send(DTMFInfo)
        /// Call ``paused()`` after this time.
        case wait(Duration)
        /// A digit was refused, with the response's status; nil when there was no response.
        case digitFailed(status: Int?)
        /// The peer does not support digits by INFO: all that waited are dropped.
        case refused(status: Int)
    }

    /// The largest number of waiting steps.
    package static let bound = 256
    /// The pause between the response to a digit and the next digit, in which the peer plays the digit.
    static let gap = Duration.milliseconds(160)
    /// The pause for one `,`.
    static let pause = Duration.milliseconds(500)

    private enum State: Equatable, Sendable {
        /// Nothing waits. Goes to sending, waiting.
        case idle
        /// An INFO is in progress. Goes to waiting, sending (with the other content type), refused.
        case sending(DTMFEvent)
        /// Pausing. Goes to sending, waiting, idle.
        case waiting
        /// The peer does not support digits by INFO. Final.
        case refused
    }

    private var state = State.idle
    private var queue: [DTMFDigits.Step] = []
    private var usesPlain = false

    /// Creates an empty queue.
    package init() {}

    /// Whether the peer does not support digits by INFO.
    package var isRefused: Bool { state == .refused }

    /// Queues digits behind those that wait.
    /// - Throws: ``DTMFError/full(bound:)`` when there are too many, ``DTMFError/unavailable`` when the peer does not
    ///   support them.
    package mutating func enqueue(_ digits: DTMFDigits) throws(DTMFError) -> [Action] {
        guard state != .refused else { throw .unavailable }
        guard queue.count + digits.steps.count <= Self.bound else { throw .full(bound: Self.bound) }
        queue += digits.steps
        return state == .idle ? next() : []
    }

    /// Takes the final response to the INFO in progress; nil when there was none.
    package mutating func answered(status: Int?) -> [Action] {
        guard case .sending(let event) = state else { return [] }
        switch status {
        case .some(200..<300):
            state = .waiting
            return [.wait(Self.gap)]
        case .some(let status) where status == 405 || status == 415:
            guard usesPlain else {
                usesPlain = true
                return [.send(.plain(event))]
            }
            state = .refused
            queue = []
            return [.refused(status: status)]
        case .some, nil:
            state = .waiting
            return [.digitFailed(status: status), .wait(Self.gap)]
        }
    }

    /// Called when the pause has passed.
    package mutating func paused() -> [Action] { state == .waiting ? next() : [] }

    private mutating func next() -> [Action] {
        guard !queue.isEmpty else {
            state = .idle
            return []
        }
        switch queue.removeFirst() {
        case .pause:
            state = .waiting
            return [.wait(Self.pause)]
        case .digit(let event):
            state = .sending(event)
            return [.send(usesPlain ? .plain(event) : .relay(event))]
        }
    }
}
