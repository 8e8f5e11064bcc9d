internal import SignalingProtocol

/// The settlement of a join without an answer: it is undone in case it took effect, and then the previous membership is
/// checked.
struct JoinSettlement: Equatable, Sendable {
    private enum State: Equatable {
        /// A reply is awaited, and the next join for the end of the settlement. Goes to `pausing`.
        case asking(next: RequestedJoin?)
        /// The last request has failed; it is repeated after a pause. Goes to `asking`.
        case pausing
    }

    /// Distinguishes replies for this settlement from those for others.
    let number: Int
    /// The channel of the join.
    let channel: ChannelName
    /// The channel before the join. Its events are still delivered, because the session may still be in it.
    let previous: ChannelKey?
    private var state = State.asking(next: nil)

    /// Creates the settlement of a join that is being undone.
    init(number: Int, channel: ChannelName, previous: ChannelKey?) {
        self.number = number
        self.channel = channel
        self.previous = previous
    }

    /// Lets a new join wait while a reply is awaited, because a late undo of the old join would undo the new one.
    /// - Returns: whether it waits. If not, it replaces the settlement, because it leaves
    ///   whatever channel the session is in.
    mutating func delays(_ join: RequestedJoin) -> Bool {
        guard case .asking = state else { return false }
        state = .asking(next: join)
        return true
    }

    /// Records that the reply has arrived, or that there was none.
    /// - Returns: the join that has waited for it.
    mutating func answered() -> RequestedJoin? {
        guard case .asking(let next) = state else { return nil }
        state = .pausing
        return next
    }

    /// Records that the request is repeated.
    /// - Returns: false when a reply is awaited already.
    mutating func asksAgain() -> Bool {
        guard case .pausing = state else { return false }
        state = .asking(next: nil)
        return true
    }
}
