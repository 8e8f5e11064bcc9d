internal import DequeModule
internal import SignalingProtocol
internal import Synchronization

/// The commands that a process handled lately: for effects that live in the process only, such as digits on their way to a
/// telephone, this makes a command that comes again take effect once.
final class RecentCommands: Sendable {
    private struct State {
        var known: Set<CommandID> = []
        var order: Deque<CommandID> = []
    }

    /// Commands remembered; the oldest beyond it are long past their deadline.
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
