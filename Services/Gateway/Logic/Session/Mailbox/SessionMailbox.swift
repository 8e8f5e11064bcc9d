internal import DequeModule
internal import SignalingProtocol

/// A client's poll of its mailbox.
struct MailboxPoll: Equatable, Sendable {
    let ticket: CallTicket
    /// The highest version that the client has processed.
    let verClear: Int64
    /// The largest number of entries in the answer.
    let limit: Int
}

/// The poll that waits for the mailbox; there is at most one, because polls do not overlap.
indirect enum PollState: Equatable, Sendable {
    /// No poll. Goes to `delayed`, `asked`.
    case none
    /// Too many polls came before; it is sent to the mailbox when the timer fires. Goes to `asked`, `none`.
    case delayed(MailboxPoll)
    /// The mailbox was polled. `hasTimer` if it did not answer at once: the poll must be answered when the timer fires.
    /// Goes to `none`.
    case asked(CallTicket, verClear: Int64, hasTimer: Bool)

    /// Whether the driver's timer is running.
    var hasTimer: Bool {
        switch self {
        case .none: false
        case .delayed: true
        case .asked(_, _, let hasTimer): hasTimer
        }
    }
}

/// The mailbox of a session that is logged in: what its client knows of it and still waits for.
struct SessionMailbox: ~Copyable {
    /// The session; the actions of the mailbox are done in its name.
    let owner: ActiveSession
    /// What the client knows.
    var machine: MailboxStateMachine
    /// The client's poll that is not answered yet.
    private(set) var poll = PollState.none
    /// Entries to push when the client has read what waits for it.
    var unsentPushes: Deque<MailboxEntry> = []

    init(of owner: ActiveSession) {
        self.owner = owner
        machine = MailboxStateMachine(takesPushes: owner.session.push)
    }

    /// Changes the state of the client's poll.
    ///
    /// A function, because Swift 6.3 does not free the former value of a property that is assigned through an optional
    /// (`mailbox?.poll = ...`) of a type that cannot be copied, as ``ClientSession``.
    mutating func become(_ poll: PollState) { self.poll = poll }
}
