package import Pacing

/// A circuit breaker: after several questions in a row did not reach an app's server, none is asked for a while, so
/// that a dead server costs its users no deadline each. It also bounds how many questions are under way.
///
/// closed -> open (failures in a row) -> probing -> closed, or open again.
package struct HookBreaker: Sendable {
    /// The failures in a row after which the breaker opens.
    package static let failuresBound = 5
    /// For how long it is open at first; the pause doubles with each failed probe.
    package static let firstPause = LocalTime.Span(.seconds(1))
    /// The longest pause.
    package static let longestPause = LocalTime.Span(.seconds(30))

    /// What a question has told about the server.
    package enum Outcome: Equatable, Sendable {
        /// It has answered, be it with an error.
        case reached
        /// It did not answer, although it had its time.
        case failed
        /// Nothing: it had less than its time.
        case unknown
    }

    private enum State {
        /// Questions are asked; so many in a row have failed. Goes to `open`.
        case closed(failures: Int)
        /// None is asked until the moment. Goes to `probing`.
        case open(until: LocalTime, pause: LocalTime.Span)
        /// One question, the probe, is under way; its answer decides. Goes to `closed`, `open`.
        case probing(pause: LocalTime.Span)
    }

    private let bound: Int
    private var state = State.closed(failures: 0)
    /// The number of questions under way.
    package private(set) var underWay = 0

    /// - Parameter bound: the most questions under way.
    package init(bound: Int) { self.bound = bound }

    /// Whether questions are refused because others have failed; only probes are asked.
    package var isOpen: Bool {
        switch state {
        case .closed: false
        case .open, .probing: true
        }
    }

    /// Counts a question that is about to be asked; ``answered(_:isProbe:now:)`` must follow.
    /// - Returns: whether the question is a probe.
    /// - Throws: ``HookFailure/busy`` or ``HookFailure/open`` when it is not to be asked.
    package mutating func ask(now: LocalTime) throws(HookFailure) -> Bool {
        switch state {
        case .closed:
            guard underWay < bound else { throw .busy }
            underWay += 1
            return false
        case .open(let until, let pause):
            guard until <= now, underWay < bound else { throw .open }
            state = .probing(pause: pause)
            underWay += 1
            return true
        case .probing: throw .open
        }
    }

    /// Takes the outcome of a question.
    /// - Parameter isProbe: what ``ask(now:)`` has returned for it.
    package mutating func answered(_ outcome: Outcome, isProbe: Bool, now: LocalTime) {
        underWay -= 1
        switch state {
        case .closed(let failures):
            switch outcome {
            case .reached: state = .closed(failures: 0)
            case .unknown: break
            case .failed:
                state =
                    failures + 1 < Self.failuresBound
                    ? .closed(failures: failures + 1)
                    : .open(until: now + Self.firstPause, pause: Self.firstPause)
            }
        case .probing(let pause) where isProbe:
            switch outcome {
            case .reached: state = .closed(failures: 0)
            case .unknown: state = .open(until: now + pause, pause: pause)
            case .failed:
                let next = min(pause * 2, Self.longestPause)
                state = .open(until: now + next, pause: next)
            }
        // A question from before it opened tells nothing new.
        case .open, .probing: break
        }
    }
}
