/// A circuit breaker: after so many failures in a row nothing is tried but one probe at a time, until one succeeds.
///
/// closed -> open (failures in a row) -> probing -> closed, or open again. When a probe is due is its owner's to say.
package struct Breaker: Equatable, Sendable {
    /// What a try or a probe has told.
    package enum Outcome: Equatable, Sendable {
        /// There was an answer, be it an error.
        case reached
        /// There was none, although there was time for it.
        case failed
        /// Nothing: there was too little time.
        case unknown
    }

    private enum State: Equatable {
        /// Everything may be tried; so many in a row have failed. Goes to `open`.
        case closed(failures: Int)
        /// Nothing is tried; so many probes in a row have failed. Goes to `probing`.
        case open(failedProbes: Int)
        /// A probe is under way; its outcome decides. Goes to `closed`, `open`.
        case probing(failedProbes: Int)
    }

    private let failuresBound: Int
    private var state = State.closed(failures: 0)

    /// Creates a closed breaker.
    /// - Parameter failuresBound: the failures in a row after which it opens.
    package init(failuresBound: Int) { self.failuresBound = failuresBound }

    /// Whether nothing but probes is tried.
    package var isOpen: Bool {
        switch state {
        case .closed: false
        case .open, .probing: true
        }
    }

    /// Whether a probe is under way.
    package var isProbing: Bool {
        switch state {
        case .probing: true
        case .closed, .open: false
        }
    }

    /// Takes the outcome of what was tried while the breaker was closed. What ends later tells nothing new.
    /// - Returns: whether the breaker has opened, and the first probe must be planned.
    package mutating func tried(_ outcome: Outcome) -> Bool {
        guard case .closed(let failures) = state else { return false }
        switch outcome {
        case .reached: state = .closed(failures: 0)
        case .unknown: break
        case .failed:
            guard failures + 1 < failuresBound else {
                state = .open(failedProbes: 0)
                return true
            }
            state = .closed(failures: failures + 1)
        }
        return false
    }

    /// Begins a probe; ``probed(_:)`` must follow.
    /// - Returns: false when the breaker is closed, or a probe is under way.
    package mutating func probe() -> Bool {
        guard case .open(let failedProbes) = state else { return false }
        state = .probing(failedProbes: failedProbes)
        return true
    }

    /// Takes the outcome of the probe.
    /// - Returns: how many probes in a row have failed, when the next must be planned; 0 when none has, because this
    ///   one told nothing. Nil when there is no probe to plan: the breaker has closed, or there was no probe.
    package mutating func probed(_ outcome: Outcome) -> Int? {
        guard case .probing(let failedProbes) = state else { return nil }
        let failed =
            switch outcome {
            case .reached: nil as Int?
            case .unknown: failedProbes
            case .failed: failedProbes + 1
            }
        state = failed.map { .open(failedProbes: $0) } ?? .closed(failures: 0)
        return failed
    }
}
