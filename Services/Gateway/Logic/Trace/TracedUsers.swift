package import BusProtocol
package import Pacing
package import SignalingProtocol

/// The users whose connections somebody follows.
package struct TracedUsers {
    /// Traces at a time; the orders of further ones are ignored.
    package static let bound = 16
    /// What is told of a trace, per second and at once; further entries are left out, and counted.
    package static let (entriesPerSecond, entriesAtOnce) = (100, 500)

    /// One listener's trace.
    private struct Trace {
        let id: String
        let user: UserKey
        var ends: LocalTime
        var pace = TokenBucket(perSecond: TracedUsers.entriesPerSecond, burst: TracedUsers.entriesAtOnce)
        var leftOut = 0
    }

    /// What is to be told, and to whom.
    package struct Telling: Equatable, Sendable {
        package let id: String
        package let user: UserKey
        /// How many entries before this one were left out.
        package let leftOut: Int
    }

    private var traces: [Trace] = []

    package init() {}

    /// Whether nobody is followed.
    package var isEmpty: Bool { traces.isEmpty }

    /// Whether somebody follows this user.
    package func follows(_ user: UserKey) -> Bool { traces.contains { $0.user == user } }

    /// Begins a trace, or goes on with it for the time of the order.
    /// - Returns: false when there are too many.
    package mutating func follow(_ order: TraceOrder, now: LocalTime) -> Bool {
        end(now: now)
        let ends = now + LocalTime.Span(.seconds(order.seconds))
        if let known = traces.firstIndex(where: { $0.id == order.id && $0.user == order.user }) {
            traces[known].ends = ends
            return true
        }
        guard traces.count < Self.bound else { return false }
        traces.append(Trace(id: order.id, user: order.user, ends: ends))
        return true
    }

    /// Whom to tell of something that has happened on a user's connection.
    package mutating func tellings(of user: UserKey, now: LocalTime) -> [Telling] {
        end(now: now)
        var tellings: [Telling] = []
        for index in traces.indices where traces[index].user == user {
            guard traces[index].pace.take(now: now) else {
                traces[index].leftOut += 1
                continue
            }
            tellings.append(Telling(id: traces[index].id, user: user, leftOut: traces[index].leftOut))
            traces[index].leftOut = 0
        }
        return tellings
    }

    /// Ends traces whose time is over.
    package mutating func end(now: LocalTime) { traces.removeAll { $0.ends <= now } }
}
