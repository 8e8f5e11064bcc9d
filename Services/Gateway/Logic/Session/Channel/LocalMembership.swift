internal import BusProtocol
internal import SignalingProtocol

/// A channel whose events a connection receives: decides which live events the client gets, and which missed events it
/// still gets from the channel's log. The log is read only while live events are held back. Events of the log are sent
/// only while no join and no change of the client waits for its answer: a member that joins again gets lists in the
/// answer, and must not get the same changes once more as events.
struct LocalMembership {
    /// Why a channel's log is being read.
    enum LogPurpose: Equatable, Sendable {
        /// A resumed client requests the events after this id; the mailbox, when nothing waited in it.
        case resume(after: Int64, EmptyMailbox?)
        /// The session stays in a channel that it was going to leave, and needs the events published meanwhile, after
        /// this position.
        case stay(after: ChannelPosition)
        /// To get the next page of missed events.
        case nextPage
    }

    /// What is next while missed events are being sent.
    enum ReplayStep {
        /// Send these.
        case show([ChannelEvent])
        /// Read the next page of the log, above this position.
        case read(after: ChannelPosition)
        /// All were sent; the live events above this position follow, all held ones if nil.
        case activate(after: ChannelPosition?)
    }

    /// On the heap while it has a payload, because few connections have missed events.
    private indirect enum CatchUp {
        /// Nothing is read or sent. Goes to `reading`.
        case none
        /// The log is being read, by the request of this number. Goes to `replaying`, `none`.
        case reading(number: Int, LogPurpose)
        /// Missed events are being sent. Goes to `reading`, `none`.
        case replaying(ChannelReplay)
    }

    let name: ChannelName
    private var events = Membership()
    private var catchUp = CatchUp.none

    /// Creates the membership of a connection that has just entered the channel: events are held.
    init(in name: ChannelName) { self.name = name }

    // MARK: - Live events

    /// The id above which all events are sent; nil while they are held.
    var shownAfter: Int64? { events.shownAfter }

    /// Whether events are held until a member's call is answered.
    var isPaused: Bool { events.isPaused }

    /// The events of `published` that the client is sent.
    func shown(of published: [ChannelEvent]) -> [ChannelEvent] { published.filter(events.shows) }

    /// Holds events until the awaited answer is written.
    /// - Returns: false when ``Membership/heldBound`` is exceeded.
    mutating func hold(_ published: [ChannelEvent]) -> Bool { events.hold(published) }

    /// Holds events from now on, because a call was made whose event must not be sent before its answer.
    mutating func pause() { events.pause() }

    /// Called when that answer was written.
    /// - Returns: the held events, to be sent after it.
    mutating func resume() -> [ChannelEvent] { events.resume() }

    /// Shows events from now on, or when what was missed has been sent.
    /// - Parameter id: the id up to which the client has or needs no events; after a repeated join, none but messages.
    /// - Returns: the held events to send now.
    mutating func activate(after id: Int64) -> [ChannelEvent] {
        guard case .none = catchUp else {
            events.listed(through: id)
            return []
        }
        return events.activate(after: id)
    }

    // MARK: - What was missed

    /// Whether missed events are being sent, in steps, and the next one may be made.
    var isReplaying: Bool { if case .replaying = catchUp { !events.isPaused } else { false } }

    /// Records that the log is being read.
    /// - Parameter number: identifies the request.
    mutating func reads(_ number: Int, for purpose: LogPurpose) {
        // Events published before the read is executed are in the log.
        events.holdAnew()
        catchUp = .reading(number: number, purpose)
    }

    /// Takes the reply to the request with this number.
    /// - Returns: why the log was read; nil when the reply is not awaited any more.
    mutating func hasRead(_ number: Int) -> LogPurpose? {
        guard case .reading(number: number, let purpose) = catchUp else { return nil }
        catchUp = .none
        return purpose
    }

    /// Begins to send what was read.
    mutating func replays(_ replay: ChannelReplay) { catchUp = .replaying(replay) }

    /// The next step of the replay; nil when there is none, or when an answer must be written before it.
    mutating func nextStep() -> ReplayStep? {
        guard !events.isPaused, case .replaying(var replay) = catchUp else { return nil }
        let next = replay.takeNext()
        guard next.isEmpty else {
            catchUp = .replaying(replay)
            return .show(events.missing(of: next))
        }
        catchUp = .none
        return replay.next.map { .read(after: $0) } ?? .activate(after: replay.activeAfter)
    }
}
