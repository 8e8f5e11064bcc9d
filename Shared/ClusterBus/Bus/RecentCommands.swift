internal import DequeModule
internal import RedisClient
internal import SignalingProtocol
internal import Synchronization

/// The ids of the commands that this process has handled recently. Makes a redelivered command take effect once when
/// its effect exists only in this process, such as DTMF digits being sent to a telephone.
final class RecentCommands: Sendable {
    private struct State {
        var known: Set<CommandID> = []
        var order: Deque<CommandID> = []
    }

    /// The number of ids kept; those dropped beyond it are long past their deadline.
    private static let bound = 10_000
    private let state = Mutex(State())

    func contains(_ id: CommandID) -> Bool { state.withLock { $0.known.contains(id) } }

    func insert(_ id: CommandID) {
        state.withLock { state in
            guard state.known.insert(id).inserted else { return }
            state.order.append(id)
            if state.order.count > Self.bound { state.known.remove(state.order.removeFirst()) }
        }
    }
}
