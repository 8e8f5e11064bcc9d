/// Decides which of the server API's lists are read when: so many at once, one of them for each app, apps in turn.
///
/// A list that has waited beyond its deadline is dropped: whoever asked for it has been told that it takes too long,
/// and reading it all the same would keep the others waiting.
package struct ListQueue: Sendable {
    /// Lists that are read at once.
    package static let readers = 2
    /// Lists of one app that wait.
    package static let waitingOfApp = 20
    /// Lists of all apps that wait.
    package static let waitingBound = 1000

    /// A list, by the number that the caller gave it.
    package typealias ID = Int

    /// What becomes of a list that arrives.
    package enum Arrival: Equatable, Sendable {
        /// It is read now; ``finished(_:now:)`` must follow.
        case read
        /// It waits until ``Turn/next`` names it, or it is dropped.
        case wait
        /// The list is refused, because `bound` lists already wait: of this app, or of all apps.
        case refused(bound: Int, ofApp: Bool)
    }

    /// What follows from the end of a list.
    package struct Turn: Equatable, Sendable {
        /// The list that is read now.
        package var next: ID?
        /// Lists that have waited too long.
        package var dropped: [ID] = []

        package init(next: ID? = nil, dropped: [ID] = []) {
            self.next = next
            self.dropped = dropped
        }
    }

    private struct Waiter {
        var id: ID
        var deadline: ContinuousClock.Instant
    }

    /// Lists that wait, by app, the oldest first; no app without any.
    private var waiting: [String: [Waiter]] = [:]
    private var waitingCount = 0
    /// Apps whose lists wait, in the order of their turns.
    private var turns: [String] = []
    /// Apps of which a list is read.
    private var reading: Set<String> = []

    package init() {}

    /// Takes a list.
    /// - Parameters:
    ///   - app: the app's id; empty for lists of all apps, which count as one more app.
    ///   - deadline: until when someone waits for it.
    /// - Returns: what becomes of it, and those that were dropped to make room.
    package mutating func arrived(
        _ id: ID, of app: String, until deadline: ContinuousClock.Instant, now: ContinuousClock.Instant
    ) -> (Arrival, dropped: [ID]) {
        if reading.count < Self.readers, !reading.contains(app) {
            reading.insert(app)
            return (.read, [])
        }
        var dropped: [ID] = []
        if waiting[app]?.count ?? 0 >= Self.waitingOfApp { dropped = drop(of: app, now) }
        if waitingCount >= Self.waitingBound { for app in turns { dropped += drop(of: app, now) } }
        guard waiting[app]?.count ?? 0 < Self.waitingOfApp else {
            return (.refused(bound: Self.waitingOfApp, ofApp: true), dropped)
        }
        guard waitingCount < Self.waitingBound else {
            return (.refused(bound: Self.waitingBound, ofApp: false), dropped)
        }
        if waiting[app] == nil { turns.append(app) }
        waiting[app, default: []].append(Waiter(id: id, deadline: deadline))
        waitingCount += 1
        return (.wait, dropped)
    }

    /// Reports that a list of an app has been read, or has failed.
    package mutating func finished(_ app: String, now: ContinuousClock.Instant) -> Turn {
        reading.remove(app)
        var turn = Turn()
        // The app that has just had its turn is behind all others.
        for candidate in turns where !reading.contains(candidate) {
            turn.dropped += drop(of: candidate, now)
            guard let first = waiting[candidate]?.removeFirst() else { continue }
            waitingCount -= 1
            turns.removeAll { $0 == candidate }
            if waiting[candidate]?.isEmpty == true { waiting[candidate] = nil } else { turns.append(candidate) }
            reading.insert(candidate)
            turn.next = first.id
            break
        }
        return turn
    }

    /// Drops the lists of an app that have waited too long.
    private mutating func drop(of app: String, _ now: ContinuousClock.Instant) -> [ID] {
        guard let waiters = waiting[app] else { return [] }
        let late = waiters.filter { $0.deadline <= now }
        guard !late.isEmpty else { return [] }
        waitingCount -= late.count
        let left = waiters.filter { $0.deadline > now }
        waiting[app] = left.isEmpty ? nil : left
        if left.isEmpty { turns.removeAll { $0 == app } }
        return late.map(\.id)
    }
}
