package import SignalingProtocol

/// The channel that a session is in, as far as its gateway knows from channel-state.
///
/// The session's joins and leaves are numbered, so that a reassertion that was made before one of them is recognised as
/// older.
package struct ChannelPlace: Equatable, Sendable {
    private enum State: Equatable {
        /// The last join or leave was answered. Goes to `moving`.
        case settled
        /// A join or a leave is in progress. Goes to `settled`, `unknown`.
        case moving
        /// The last join or leave was not answered, so it may or may not have taken effect. Goes to `moving`.
        case unknown
    }

    private var state = State.settled
    private var moveNumber: Int64
    private var channel: ChannelName?

    /// Creates the place of a new session, or of one that was resumed after its join or leave number `moveNumber`.
    package init(moveNumber: Int64 = 0, channel: ChannelName? = nil) {
        self.moveNumber = moveNumber
        self.channel = channel
    }

    /// Records that a join or a leave is being sent.
    /// - Returns: its number.
    package mutating func moves() -> Int64 {
        moveNumber += 1
        state = .moving
        return moveNumber
    }

    /// Records that it has succeeded: the session is in `channel`, nil for none.
    package mutating func moved(to channel: ChannelName?) {
        self.channel = channel
        state = .settled
    }

    /// Records that it has failed.
    package mutating func failed(_ error: SignalingError) {
        // The join or leave was refused, or its outcome is unknown.
        state = error.code == .failed || error.reason == .timeout ? .unknown : .settled
    }

    /// The place as reported in a reassertion.
    package var held: HeldPlace { HeldPlace(moveNumber: moveNumber, channel: channel, isSettled: state == .settled) }
}
