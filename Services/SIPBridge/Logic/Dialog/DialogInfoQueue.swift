/// Sends digits by INFO, one request at a time, each after the answer to the last.
///
/// A peer that refuses `application/dtmf-relay` (405, 415) is offered `application/dtmf`; one that refuses both takes
/// no digits.
package struct DialogInfoQueue: Equatable, Sendable {
    /// What the driver has to do.
    package enum Action: Equatable, Sendable {
        /// Send an INFO with this content, then call ``answered(status:)``.
        case send(DTMFInfo)
        /// Call ``paused()`` after so many ms.
        case wait(Int64)
        /// A digit was not accepted: the status of the response, or nil without one.
        case digitFailed(status: Int?)
        /// The peer takes no digits by INFO: all that waited are dropped.
        case refused(status: Int)
    }

    /// Steps that wait at most.
    package static let bound = 256
    /// Pause between the response to a digit and the next digit, ms: the peer plays the digit meanwhile.
    static let gap: Int64 = 160
    /// The pause that a `,` stands for, ms.
    static let pause: Int64 = 500

    private enum State: Equatable, Sendable {
        /// Nothing to do. Goes to sending, waiting.
        case idle
        /// An INFO is under way. Goes to waiting, sending (with the other content), refused.
        case sending(DTMFEvent)
        /// Goes to sending, waiting, idle.
        case waiting
        /// The peer accepts no digits by INFO. Final.
        case refused
    }

    private var state = State.idle
    private var queue: [DTMFDigits.Step] = []
    private var usesPlain = false

    /// A queue without digits.
    package init() {}

    /// Whether the peer takes no digits by INFO.
    package var isRefused: Bool { state == .refused }

    /// Queues digits behind those that wait.
    /// - Throws: ``DTMFError/full(bound:)`` when they are too many, ``DTMFError/unavailable`` when the peer takes none.
    package mutating func enqueue(_ digits: DTMFDigits) throws(DTMFError) -> [Action] {
        guard state != .refused else { throw .unavailable }
        guard queue.count + digits.steps.count <= Self.bound else { throw .full(bound: Self.bound) }
        queue += digits.steps
        return state == .idle ? next() : []
    }

    /// The final response of the INFO that is under way; nil: there was none.
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

    /// The pause is over.
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
