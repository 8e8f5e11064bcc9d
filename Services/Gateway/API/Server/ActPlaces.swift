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
    /// How long one waits.
    static let patience = Duration.seconds(8)

    private struct Waiter {
        let id: UInt64
        let turn: CheckedContinuation<Bool, Never>
    }

    private struct Acts {
        var underWay = 0
        var waiting: Deque<Waiter> = []
    }

    private struct State {
        var keys: [String: Acts] = [:]
        var lastID: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Acts of a key that wait now.
    func waiting(of key: String) -> Int { state.withLock { $0.keys[key]?.waiting.count ?? 0 } }

    /// Waits for a place; ``leave(_:)`` must follow.
    /// - Throws: ``APIProblem`` with ``APIErrorCode/rateLimited``: too many wait, or it has waited too long.
    func enter(_ key: String) async throws(APIProblem) {
        let isFree = state.withLock { state in
            guard state.keys[key, default: Acts()].underWay < Self.bound else { return false }
            state.keys[key, default: Acts()].underWay += 1
            return true
        }
        guard !isFree else { return }
        APIMetrics.shared.actsDelayed.increment()
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let patience = Task {
            try await Task.sleep(for: Self.patience)
            giveUp(id, key)
        }
        defer { patience.cancel() }
        guard await turn(id, key) else {
            var problem = APIProblem(
                .rateLimited, "too many requests of the key are in progress",
                bound: "\(Self.bound) requests in progress")
            problem.retryAfter = 1
            throw problem
        }
    }

    private func turn(_ id: UInt64, _ key: String) async -> Bool {
        await withCheckedContinuation { turn in
            let answer = state.withLock { state -> Bool? in
                var acts = state.keys[key] ?? Acts()
                defer { state.keys[key] = acts }
                // One may have left since.
                if acts.underWay < Self.bound {
                    acts.underWay += 1
                    return true
                }
                guard acts.waiting.count < Self.waitingBound else { return false }
                acts.waiting.append(Waiter(id: id, turn: turn))
                return nil
            }
            if let answer { turn.resume(returning: answer) }
        }
    }

    private func giveUp(_ id: UInt64, _ key: String) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.keys[key]?.waiting.firstIndex(where: { $0.id == id }) else { return nil }
            return state.keys[key]?.waiting.remove(at: index)
        }
        waiter?.turn.resume(returning: false)
    }

    /// An act has ended; the one that has waited longest gets its place.
    func leave(_ key: String) {
        let next = state.withLock { state -> Waiter? in
            guard var acts = state.keys[key] else { return nil }
            let next = acts.waiting.popFirst()
            if next == nil { acts.underWay -= 1 }
            state.keys[key] = acts.underWay == 0 ? nil : acts
            return next
        }
        next?.turn.resume(returning: true)
    }
}
