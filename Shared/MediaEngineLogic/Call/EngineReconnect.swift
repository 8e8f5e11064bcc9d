/// When an engine joins, finds that nothing comes any more, tries to come back, and tells its app.
///
/// After 1 s without an authentic packet the engine asks for a restart of its path as the same participant; from 15 s
/// on, when the others have been told that it dropped, it joins anew. The app hears of it after 3 s, once more 10 s
/// later, and when the connection is back; of a shorter gap nothing. The engine goes on until it leaves.
package struct EngineReconnect<Node: Hashable & Sendable>: Sendable {
    /// Without a packet for this long the engine tries to come back.
    package static var silence: MediaInterval { .seconds(1) }
    /// Without a packet for this long the connection is interrupted.
    package static var interruption: MediaInterval { .seconds(3) }
    /// This long after the interruption the connection is lost.
    package static var loss: MediaInterval { .seconds(10) }
    /// Without a packet for this long the participant is gone for the others, and joins anew.
    package static var drop: MediaInterval { .seconds(15) }
    /// A first join without any packet for this long has failed.
    package static var joining: MediaInterval { .seconds(20) }
    /// An attempt without a packet for this long has failed.
    package static var attempt: MediaInterval { .seconds(2) }

    /// What the caller is to do.
    package enum Action: Sendable, Hashable {
        /// Ask for a new participant, on another node than these.
        case join(avoid: [Node])
        /// Ask for another path of the same participant, on another node than these.
        case restart(avoid: [Node])
        /// Tell the app.
        case tell(Notice)
    }

    /// What the app is told.
    package enum Notice: Sendable, Hashable {
        /// The first packet after the first join.
        case joined
        /// Nothing for 3 s.
        case interrupted
        /// Nothing for 10 s after the interruption; told once.
        case lost
        /// The connection is back after an interruption.
        case rejoined
        /// The first join failed for 20 s; nothing is tried any more.
        case failed
    }

    /// An attempt that runs, or the next one's time.
    private enum Step: Sendable {
        case running(since: MediaInstant)
        case waiting(until: MediaInstant)
    }

    private struct Search: Sendable {
        var step: Step
        var pause: RetryPause
    }

    private enum State: Sendable {
        /// Goes to `joining`.
        case idle
        /// Goes to `connected` with a packet, to `ended` after 20 s.
        case joining(since: MediaInstant, Search)
        /// Goes to `searching` after 1 s without a packet.
        case connected(latest: MediaInstant)
        /// Goes to `connected` with a packet.
        case searching(latest: MediaInstant, told: Notice?, Search)
        /// Goes nowhere.
        case ended
    }

    private var state = State.idle
    private var node: Node?
    private var avoided = AvoidedNodes<Node>()
    /// Whether the node has forgotten the participant, so that only another join helps.
    private var isGone = false

    /// Makes an engine that is in no channel.
    package init() {}

    /// When `advance` is to be called at the latest; nil when nothing is waited for.
    package var deadline: MediaInstant? {
        switch state {
        case .idle, .ended: nil
        case .joining(let since, let search): min(since + Self.joining, Self.due(search.step))
        case .connected(let latest): latest + Self.silence
        case .searching(let latest, let told, let search): min(Self.due(search.step), notice(latest, told)?.due)
        }
    }

    /// Begins to join a channel; nothing when that was done before.
    package mutating func join(now: MediaInstant) -> [Action] {
        guard case .idle = state else { return [] }
        state = .joining(since: now, Search(step: .running(since: now), pause: RetryPause(since: now)))
        return [.join(avoid: [])]
    }

    /// The app leaves the channel, or was told of an error that ends the call: nothing is tried or told any more.
    package mutating func leave() { state = .ended }

    /// The attempt was answered with a path to that node; it succeeds with the first packet.
    package mutating func answered(by node: Node) {
        self.node = node
        isGone = false
    }

    /// The server has said that the participant is over, although the app has not left: it joins anew at once.
    package mutating func participantGone(now: MediaInstant) -> [Action] {
        guard case .connected = state else {
            isGone = true
            return []
        }
        isGone = true
        let search = Search(step: .running(since: now), pause: RetryPause(since: now))
        state = .searching(latest: now, told: nil, search)
        return [.join(avoid: avoided.nodes(now: now))]
    }

    /// An authentic packet came from the server.
    package mutating func receive(now: MediaInstant) -> [Action] {
        switch state {
        case .idle, .ended: return []
        case .connected:
            state = .connected(latest: now)
            return []
        case .joining:
            state = .connected(latest: now)
            return [.tell(.joined)]
        case .searching(_, let told, _):
            state = .connected(latest: now)
            return told == nil ? [] : [.tell(.rejoined)]
        }
    }

    /// The running attempt was refused in a way that may pass, or nobody answered.
    ///
    /// - Parameter chance: random in 0..<1, for the pause before the next attempt.
    package mutating func attemptFailed(now: MediaInstant, chance: Double) {
        switch state {
        // A packet that came meanwhile has made the attempt needless.
        case .idle, .ended, .connected: break
        case .joining(let since, let search):
            state = .joining(since: since, failed(search, now: now, chance: chance))
        case .searching(let latest, let told, let search):
            state = .searching(latest: latest, told: told, failed(search, now: now, chance: chance))
        }
    }

    /// Does what is due at that time.
    ///
    /// - Parameter chance: random in 0..<1, for the pause after an attempt without an answer.
    package mutating func advance(now: MediaInstant, chance: Double) -> [Action] {
        switch state {
        case .idle, .ended: return []
        case .joining(let since, let search):
            guard now - since < Self.joining else {
                state = .ended
                return [.tell(.failed)]
            }
            let (next, isDue) = step(search, now: now, chance: chance)
            state = .joining(since: since, next)
            return isDue ? [.join(avoid: avoided.nodes(now: now))] : []
        case .connected(let latest):
            guard now - latest >= Self.silence else { return [] }
            let search = Search(step: .waiting(until: now), pause: RetryPause(since: now))
            state = .searching(latest: latest, told: nil, search)
            return advance(now: now, chance: chance)
        case .searching(let latest, let told, let search):
            let notice = notice(latest, told).flatMap { now >= $0.due ? $0.notice : nil }
            let (next, isDue) = step(search, now: now, chance: chance)
            state = .searching(latest: latest, told: notice ?? told, next)
            return (notice.map { [.tell($0)] } ?? []) + (isDue ? [attempt(latest: latest, now: now)] : [])
        }
    }

    /// What the app is told next about a gap, and when.
    private func notice(_ latest: MediaInstant, _ told: Notice?) -> (due: MediaInstant, notice: Notice)? {
        switch told {
        case nil: (latest + Self.interruption, .interrupted)
        case .interrupted: (latest + Self.interruption + Self.loss, .lost)
        case .lost, .joined, .rejoined, .failed: nil
        }
    }

    private mutating func attempt(latest: MediaInstant, now: MediaInstant) -> Action {
        let avoid = avoided.nodes(now: now)
        return now - latest < Self.drop && !isGone ? .restart(avoid: avoid) : .join(avoid: avoid)
    }

    /// The search after that time, and whether an attempt begins.
    private mutating func step(_ search: Search, now: MediaInstant, chance: Double) -> (Search, isDue: Bool) {
        guard now >= Self.due(search.step) else { return (search, false) }
        switch search.step {
        case .running: return (failed(search, now: now, chance: chance), false)
        case .waiting: return (Search(step: .running(since: now), pause: search.pause), true)
        }
    }

    private mutating func failed(_ search: Search, now: MediaInstant, chance: Double) -> Search {
        guard case .running = search.step else { return search }
        if let node { avoided.failed(node, now: now) }
        var pause = search.pause
        let until = now + pause.next(now: now, chance: chance)
        return Search(step: .waiting(until: until), pause: pause)
    }

    private static func due(_ step: Step) -> MediaInstant {
        switch step {
        case .running(let since): since + attempt
        case .waiting(let until): until
        }
    }

    private func min(_ one: MediaInstant, _ other: MediaInstant?) -> MediaInstant {
        other.map { Swift.min(one, $0) } ?? one
    }
}
