package import BusProtocol
package import SignalingProtocol

/// The channel that a session is in, as far as its gateway knows from channel-state.
///
/// The session's joins and leaves are numbered, so that a reassertion that was made before one of them is recognised as
/// older.
package struct ChannelPlace: Equatable, Sendable {
    private enum State: Equatable {
        /// The session is in `channel`. Goes to `moving`.
        case settled
        /// A join or a leave is in progress. `wasKnown`: the session was in `channel` when it began. Goes to `settled`,
        /// `unknown`.
        case moving(wasKnown: Bool)
        /// A join or leave was not answered, so it may or may not have taken effect. Goes to `moving`; only a join that
        /// succeeds ends the doubt, because it leaves whatever channel the session was in.
        case unknown
    }

    private var state = State.settled
    private var moveNumber: Int64
    /// The channel of the last join that has succeeded, unless it was left since.
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
        state = .moving(wasKnown: state == .settled)
        return moveNumber
    }

    /// Records that a join has succeeded.
    package mutating func joined(_ channel: ChannelName) {
        self.channel = channel
        state = .settled
    }

    /// Records that a leave has succeeded. If a join before it was not answered, the session may have left `channel` by
    /// that join, so it is not known where it is.
    package mutating func left(_ name: ChannelName) {
        if channel == name { channel = nil }
        state = stateBefore
    }

    /// Records that the app has removed the session from the channel.
    package mutating func removed(by removal: ChannelRemoval) {
        moveNumber = max(moveNumber, removal.moveNumber)
        if channel == removal.channel { channel = nil }
    }

    /// Records that the join or leave has failed: it was refused, or its outcome is unknown.
    package mutating func failed(_ error: SignalingError) {
        state = error.code == .failed || error.reason == .timeout ? .unknown : stateBefore
    }

    /// The state before the join or leave in progress.
    private var stateBefore: State { state == .moving(wasKnown: true) ? .settled : .unknown }

    /// The place as reported in a reassertion.
    package var held: HeldPlace { HeldPlace(moveNumber: moveNumber, channel: channel, isSettled: state == .settled) }
}
