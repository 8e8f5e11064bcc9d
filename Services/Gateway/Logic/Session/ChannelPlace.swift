package import SignalingProtocol

/// In which channel a session is, as far as channel-state has told its gateway.
///
/// Its joins and leaves are numbered, so that a reassertion that crosses one of them is known to be older.
package struct ChannelPlace: Equatable, Sendable {
    private enum State: Equatable {
        /// The last act was answered. Goes to `moving`.
        case settled
        /// A join or a leave is under way. Goes to `settled`, `unknown`.
        case moving
        /// The last act was not answered: it may have taken effect. Goes to `moving`.
        case unknown
    }

    private var state = State.settled
    private var turn: Int64
    private var channel: ChannelName?

    /// The place of a session that begins here, or goes on here after its act of number `turn`.
    package init(turn: Int64 = 0, channel: ChannelName? = nil) {
        self.turn = turn
        self.channel = channel
    }

    /// A join or a leave is asked for.
    /// - Returns: its number.
    package mutating func moves() -> Int64 {
        turn += 1
        state = .moving
        return turn
    }

    /// It has succeeded: the session is in that channel, nil for none.
    package mutating func moved(to channel: ChannelName?) {
        self.channel = channel
        state = .settled
    }

    /// It has failed.
    package mutating func failed(_ error: SignalingError) {
        // Refused, or perhaps done.
        state = error.code == .failed || error.reason == .timeout ? .unknown : .settled
    }

    /// What is told of it.
    package var held: HeldPlace { HeldPlace(turn: turn, channel: channel, isSettled: state == .settled) }
}
