package import Pacing

/// A circuit breaker: after several questions in a row did not reach an app's server, none is asked for a while, so
/// that a dead server costs its users no deadline each. It also bounds how many questions are under way.
package struct HookBreaker: Sendable {
    /// The failures in a row after which the breaker opens.
    package static let failuresBound = 5
    /// For how long it is open: a second at first, twice as long with each failed probe.
    package static let pauses = BackOff(base: .seconds(1), ceiling: .seconds(30))

    private let bound: Int
    private var breaker = Breaker(failuresBound: failuresBound)
    /// From when on a probe may be asked while the breaker is open.
    private var probeDue = LocalTime.distantPast
    /// The number of questions under way.
    package private(set) var underWay = 0

    /// - Parameter bound: the most questions under way.
    package init(bound: Int) { self.bound = bound }

    /// Whether questions are refused because others have failed; only probes are asked.
    package var isOpen: Bool { breaker.isOpen }

    /// Counts a question that is about to be asked; ``answered(_:isProbe:now:)`` must follow.
    /// - Returns: whether the question is a probe.
    /// - Throws: ``HookFailure/busy`` or ``HookFailure/open`` when it is not to be asked.
    package mutating func ask(now: LocalTime) throws(HookFailure) -> Bool {
        let isProbe = breaker.isOpen
        if isProbe {
            guard probeDue <= now, underWay < bound, breaker.probe() else { throw .open }
        } else {
            guard underWay < bound else { throw .busy }
        }
        underWay += 1
        return isProbe
    }

    /// Takes the outcome of a question.
    /// - Parameter isProbe: what ``ask(now:)`` has returned for it.
    package mutating func answered(_ outcome: Breaker.Outcome, isProbe: Bool, now: LocalTime) {
        underWay -= 1
        let failedProbes = isProbe ? breaker.probed(outcome) : breaker.tried(outcome) ? 0 : nil
        if let failedProbes { probeDue = now + LocalTime.Span(Self.pauses.bound(attempt: failedProbes)) }
    }
}
