internal import DequeModule
package import Pacing

/// Stands for a login or resume that presence is being asked for.
package struct LoginTicket: Equatable, Sendable { fileprivate let number: Int }

/// Logins and resumes that presence is to be asked for: so many at a time, the others in their order.
///
/// When thousands of clients come back at once, the messages of others would else wait behind all of them, in this
/// gateway, in Redis and in presence. One that presence takes long to answer gives its place away: while presence
/// cannot serve some users, because their master is away, the others need not wait for them.
package struct LoginQueue<Login> {
    /// The most unanswered ones at a time that keep others waiting.
    package static var bound: Int { 64 }
    /// Until one that is not answered gives its place away.
    package static var patience: LocalTime.Span { LocalTime.Span(nanoseconds: 250_000_000) }

    /// What is to be done next.
    package enum Step {
        /// Ask presence for this one, call ``answered(_:)`` when it has answered, and go on.
        case ask(Login, LoginTicket)
        /// Refuse this one, which has waited until its deadline, and go on.
        case refuse(Login)
        /// Go on at this time, if no answer has come before.
        case wait(until: LocalTime)
        /// None waits.
        case none
    }

    /// Those that have a place, in the order in which presence was asked for them.
    private var asked: [(ticket: LoginTicket, since: LocalTime)] = []
    private var waiting: Deque<(login: Login, deadline: LocalTime)> = []
    private var tickets = 0

    package init() {}

    /// The number of those that wait.
    package var count: Int { waiting.count }

    /// Adds one behind all that wait.
    package mutating func add(_ login: Login, by deadline: LocalTime) { waiting.append((login, deadline)) }

    /// Presence has answered, or will not.
    package mutating func answered(_ ticket: LoginTicket) { asked.removeAll { $0.ticket == ticket } }

    /// Takes the next one.
    package mutating func next(now: LocalTime) -> Step {
        guard let first = waiting.first else { return .none }
        if first.deadline <= now {
            waiting.removeFirst()
            return .refuse(first.login)
        }
        asked.removeAll { $0.since + Self.patience <= now }
        if asked.count >= Self.bound { return .wait(until: asked[0].since + Self.patience) }
        waiting.removeFirst()
        tickets += 1
        let ticket = LoginTicket(number: tickets)
        asked.append((ticket, now))
        return .ask(first.login, ticket)
    }
}
