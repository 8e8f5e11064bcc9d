internal import DequeModule
internal import GatewayAPILogic
internal import ServiceMetrics
internal import Synchronization

/// How many acts of one key are under way in this process: the others wait for their turn, so that no key has the
/// cluster to itself, however many connections it has.
final class ActPlaces: Sendable {
    /// Acts of a key under way at most.
    static let bound = 16
    /// Acts of a key that wait at most.
    static let waitingBound = 512

    private struct Waiter {
        let deadline: ContinuousClock.Instant
        let turn: CheckedContinuation<Bool, Never>
    }

    private struct Acts {
        var underWay = 0
        /// Those who wait, in the order of their arrival, which is that of their deadlines.
        var waiting: Deque<Waiter> = []
    }

    private struct State {
        var keys: [String: Acts] = [:]
        /// Whether ``endLateWaits()`` runs.
        var isWatched = false
    }

    /// What becomes of an act that comes.
    private enum Arrival {
        case begins
        case waits(isFirst: Bool)
        case tooMany
    }

    private let patience: Duration
    private let state = Mutex(State())

    /// - Parameter patience: how long an act waits; default 8 s.
    init(patience: Duration = .seconds(8)) { self.patience = patience }

    /// Acts of a key that wait now.
    func waiting(of key: String) -> Int { state.withLock { $0.keys[key]?.waiting.count ?? 0 } }

    /// Waits for a place; ``leave(_:)`` must follow.
    /// - Throws: ``APIProblem`` with ``APIErrorCode/rateLimited``: too many wait, or it has waited too long.
    func enter(_ key: String) async throws(APIProblem) {
        // Most find a place at once, and need no continuation.
        guard !state.withLock({ Self.takesPlace(key, &$0) }) else { return }
        APIMetrics.shared.actsDelayed.increment()
        guard await turn(key) else {
            var problem = APIProblem(
                .rateLimited, "too many requests of the key are in progress",
                bound: "\(Self.bound) requests in progress")
            problem.retryAfter = 1
            throw problem
        }
    }

    private func turn(_ key: String) async -> Bool {
        await withCheckedContinuation { turn in
            let waiter = Waiter(deadline: .now + patience, turn: turn)
            switch state.withLock({ Self.arrived(waiter, of: key, &$0) }) {
            case .begins: turn.resume(returning: true)
            case .waits(let isFirst): if isFirst { Task { try await endLateWaits() } }
            case .tooMany: turn.resume(returning: false)
            }
        }
    }

    /// Takes a place, if one is free.
    private static func takesPlace(_ key: String, _ state: inout State) -> Bool {
        guard state.keys[key, default: Acts()].underWay < bound else { return false }
        state.keys[key, default: Acts()].underWay += 1
        return true
    }

    private static func arrived(_ waiter: Waiter, of key: String, _ state: inout State) -> Arrival {
        // One may have left since it was asked.
        guard !takesPlace(key, &state) else { return .begins }
        guard state.keys[key, default: Acts()].waiting.count < waitingBound else { return .tooMany }
        state.keys[key, default: Acts()].waiting.append(waiter)
        defer { state.isWatched = true }
        return .waits(isFirst: !state.isWatched)
    }

    /// Refuses those who have waited too long, until nobody waits. One task for all: a timer for each act that waits
    /// would cost more than most acts.
    private func endLateWaits() async throws {
        while let deadline = state.withLock({ Self.nextDeadline(&$0) }) {
            try await Task.sleep(until: deadline)
            let now = ContinuousClock.now
            let late = state.withLock { state in
                state.keys.keys.flatMap { key in
                    var late: [Waiter] = []
                    while let first = state.keys[key]?.waiting.first, first.deadline <= now {
                        late.append(first)
                        state.keys[key]?.waiting.removeFirst()
                    }
                    return late
                }
            }
            for waiter in late { waiter.turn.resume(returning: false) }
        }
    }

    /// When the first of those who wait has waited too long; nil when nobody waits, who is not watched then.
    private static func nextDeadline(_ state: inout State) -> ContinuousClock.Instant? {
        let next = state.keys.values.compactMap { $0.waiting.first?.deadline }.min()
        state.isWatched = next != nil
        return next
    }

    /// An act has ended; the one that has waited longest gets its place.
    func leave(_ key: String) {
        let next = state.withLock { state -> Waiter? in
            if let next = state.keys[key]?.waiting.popFirst() { return next }
            state.keys[key]?.underWay -= 1
            if state.keys[key]?.underWay == 0 { state.keys[key] = nil }
            return nil
        }
        next?.turn.resume(returning: true)
    }
}
