internal import BusProtocol
internal import SignalingProtocol

/// A join that the client has requested.
struct RequestedJoin: Equatable, Sendable {
    let ticket: CallTicket
    let name: ChannelName
}

/// The change of the session's channel that is in progress; there is at most one.
indirect enum ChannelChange: Equatable, Sendable {
    /// None is in progress.
    case none
    /// The session is being resumed in its channel, if it has one. Goes to `none`.
    case resuming(Resumption)
    /// A join waits for its channel's subscription. Goes to `joining`, `none`.
    case subscribing(RequestedJoin)
    /// Channel-state was asked to join, and so to leave `previous`, whose events were sent up to `left`. Goes to
    /// `none`.
    case joining(ChannelName, previous: ChannelKey?, left: ChannelPosition?)
    /// Channel-state was asked to join the channel that the session is in already. Goes to `none`.
    case joiningAgain(ChannelName)
    /// Channel-state was asked to leave. Goes to `none`.
    case leaving(ChannelName)
}

/// What is needed to answer a resume.
struct Resumption: Equatable, Sendable {
    /// The last `channel2` id that the client has received; nil when it does not request missed events.
    let after: Int64?
    /// The mailbox, when nothing waited in it.
    let mail: EmptyMailbox?
}

/// A session's channel: where channel-state knows it to be, whose events its connection receives, and
/// the change between two channels.
///
/// The two differ while a change is in progress, and after a join without an answer, until ``settlement`` has ended.
struct SessionChannel {
    /// The channel that the session is in, as known from channel-state.
    var place: ChannelPlace
    var change: ChannelChange
    /// The channel whose events this connection receives.
    var joined: LocalMembership?
    @HeapStored var settlement: JoinSettlement?
    /// A removal by the app that was told while a change was in progress.
    @HeapStored var removal: ChannelRemoval?
    /// The id of the last join that has succeeded on this connection; 0 when there was none.
    var joinID: Int64 = 0
    private var lastNumber = 0

    /// Creates the channel of a new session, or of one that is being resumed.
    init(_ place: ChannelPlace = ChannelPlace(), _ change: ChannelChange = .none) {
        self.place = place
        self.change = change
    }

    /// A number for a log read or a settlement, which assigns its reply to it.
    mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Receives this channel's events from now on, which are held at first.
    mutating func enter(_ name: ChannelName) { joined = LocalMembership(in: name) }

    /// Receives no channel's events any more.
    /// - Returns: whether it did before.
    mutating func leaveLocally() -> Bool {
        defer { joined = nil }
        return joined != nil
    }
}
