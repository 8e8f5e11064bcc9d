/// Decides whether an app's server is asked: not more questions at once than its bound, and none for a while after
/// several in a row did not reach it, so that a dead server costs its users no deadline each.
package struct HookGate: Sendable {
    /// The failures in a row after which the server is left alone.
    package static let failuresBound = 5
    /// The first pause in which it is left alone; the pause doubles with each failed attempt after it.
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
        /// Questions are asked; so many in a row have failed. Goes to `pausing`.
        case asking(failures: Int)
        /// None is asked until the moment. Goes to `trying`.
        case pausing(until: LocalTime, pause: LocalTime.Span)
        /// One question is under way; its answer decides. Goes to `asking`, `pausing`.
        case trying(pause: LocalTime.Span)
    }

    private let bound: Int
    private var state = State.asking(failures: 0)
    /// The number of questions under way.
    package private(set) var underWay = 0

    /// - Parameter bound: the most questions under way.
    package init(bound: Int) { self.bound = bound }

    /// Whether the server is left alone because questions have failed.
    package var isOpen: Bool {
        switch state {
        case .asking: false
        case .pausing, .trying: true
        }
    }

    /// Counts a question that is about to be asked; ``answered(_:isTrial:now:)`` must follow.
    /// - Returns: whether the question tries a server that was left alone.
    /// - Throws: ``HookFailure/busy`` or ``HookFailure/open`` when it is not to be asked.
    package mutating func ask(now: LocalTime) throws(HookFailure) -> Bool {
        switch state {
        case .asking:
            guard underWay < bound else { throw .busy }
            underWay += 1
            return false
        case .pausing(let until, let pause):
            guard until <= now, underWay < bound else { throw .open }
            state = .trying(pause: pause)
            underWay += 1
            return true
        case .trying: throw .open
        }
    }

    /// Takes the outcome of a question.
    /// - Parameter isTrial: what ``ask(now:)`` has returned for it.
    package mutating func answered(_ outcome: Outcome, isTrial: Bool, now: LocalTime) {
        underWay -= 1
        switch state {
        case .asking(let failures):
            switch outcome {
            case .reached: state = .asking(failures: 0)
            case .unknown: break
            case .failed:
                state =
                    failures + 1 < Self.failuresBound
                    ? .asking(failures: failures + 1)
                    : .pausing(until: now + Self.firstPause, pause: Self.firstPause)
            }
        case .trying(let pause) where isTrial:
            switch outcome {
            case .reached: state = .asking(failures: 0)
            case .unknown: state = .pausing(until: now + pause, pause: pause)
            case .failed:
                let next = min(pause * 2, Self.longestPause)
                state = .pausing(until: now + next, pause: next)
            }
        // A question from before the pause tells nothing new.
        case .pausing, .trying: break
        }
    }
}
