package import SignalingProtocol
package import SignalingWire

/// What a connection's driver has to do for its ``ClientSession``. Ids and values only: what is answered comes back as a
/// ``SessionEvent`` that carries them again.
package enum SessionAction: Equatable, Sendable {
    /// Why a connection is closed by the gateway, told to the client's WebSocket.
    package enum Closing: Equatable, Sendable {
        /// The conversation has ended in an orderly way.
        case normal
        /// The gateway drops this connection; its session can be resumed.
        case goingAway
        /// The client asks for more than it may.
        case tooMuch
        /// The gateway stops; its session can be resumed elsewhere.
        case restart
    }

    /// Something to count in the metrics; some are logged as well.
    package enum Count: Equatable, Sendable {
        /// A session was opened, or resumed.
        case login, resume
        /// A login was refused; `isOfTheLogin` for what the client said, not for the state of the cluster.
        case loginFailure(isOfTheLogin: Bool)
        /// A login was refused because too many of the client's address have failed.
        case loginLimited
        /// A call has failed.
        case callFailure
        /// A message, or another act, was refused because there were too many.
        case messageLimited, actLimited
        /// A special channel was refused.
        case specialChannelRefused
        /// A poll must wait, because there were too many.
        case pollDelayed
        /// A call was not done in time.
        case overdue
        /// Reading from the client was paused.
        case readingPaused
        /// Redis has forgotten messages that it had told of.
        case mailboxReset
        /// A message was refused because the mailbox, or Redis, is full.
        case mailboxFull, memoryFull
        /// A resume was given up because the events of its channel could not be had.
        case resumeAbandoned(ChannelName)
        /// A join was not answered.
        case joinUnsettled
        /// More calls were unanswered than may be.
        case tooManyCalls
    }

    // MARK: The client

    /// Send a frame; an answer where the client has asked for it.
    case send([UInt8], isAnswer: Bool)
    /// Write a close frame after everything that was written, then close.
    case close(Closing)
    /// Read from the client, or do not.
    case setReading(Bool)
    /// The client is logged in: allow as many waiting bytes as for any other client.
    case raiseOutputBound
    /// Count it.
    case count(Count)

    // MARK: Presence

    /// Ask for the app's settings.
    case askApp(AppID)
    /// Open this session at presence.
    case open(ConnectionStateMachine.Session)
    /// Move this session here, and ask for its app's limits.
    case resume(ConnectionStateMachine.Session)
    /// The session is this connection's: drop an older connection of it.
    case bind(SessionID)
    /// The session is this connection's no longer.
    case unbind(SessionID)
    /// Look up what an older connection has left of the session's rates.
    case takeRates(SessionID)
    /// Keep ``ClientSession/rates`` for a connection that resumes the session.
    case keepRates(SessionID)
    /// Tell presence that the session lives on without a connection.
    case detach(SessionID, UserKey)
    /// End the session for good.
    case endSession(SessionID, UserKey)
    /// End the session, as its client asks.
    case logOut(CallTurn)
    /// Ask presence soon whose the session is.
    case askWhoseSession(SessionID)

    // MARK: Calls

    /// Do what the call asks for.
    case perform(CallTurn, ClientCall)
    /// Call ``ClientSession/handle(_:_:)`` with ``SessionEvent/goOn`` while ``ClientSession/canGoOn``.
    case goOn

    // MARK: The mailbox

    /// Read the mailbox above this version; `fresh` drops stale call events first.
    case loadMailbox(after: Int64, fresh: Bool)
    /// Tell ``SessionEvent/mailboxLoadDue`` after a pause.
    case loadMailboxLater
    /// Forget entries up to this version in Redis.
    case clearMailbox(through: Int64)
    /// Tell ``SessionEvent/pollTimerFired`` when this time is over.
    case startPollTimer(milliseconds: Int64)
    /// Stop that timer.
    case cancelPollTimer

    // MARK: The channel

    /// Subscribe to the channel.
    case subscribe(ChannelKey)
    /// Make the connection a member of the channel here.
    case enter(ChannelKey)
    /// Take the connection out of the channel here; channel-state is not told.
    case leaveLocally
    /// Join the channel, under this number of ``ChannelPlace``.
    case join(CallTurn, ChannelName, number: Int64)
    /// Leave it.
    case leave(CallTurn, ChannelName, number: Int64)
    /// Take the connection off the fast path of the fan-out: its events need individual handling.
    case closeLane
    /// The channel's feed has reached this position.
    case advanceFeed(ChannelPosition)
    /// Show these events of the channel.
    case show([ChannelEvent])
    /// Read the channel's log above this position.
    case readLog(ChannelKey, after: ChannelPosition, number: Int)

    // MARK: A join that was not answered

    /// Leave the channel, in case the join took effect.
    case undoJoin(ChannelName, settlement: Int)
    /// Ask whether the user is a member of the channel.
    case askMembership(ChannelKey, settlement: Int)
    /// Tell ``SessionEvent/settlementDue(_:)`` after a pause.
    case settleLater(Int)
}

/// Actions in their order. Most events have one at most, which needs no memory of its own.
package struct SessionActions: Equatable, Sendable {
    /// The first; nil for none.
    package private(set) var first: SessionAction?
    /// Those that follow it.
    package private(set) var rest: [SessionAction] = []

    /// No actions.
    package init() {}

    /// All of them.
    package var all: [SessionAction] { first.map { [$0] + rest } ?? [] }

    mutating func append(_ action: SessionAction) {
        if first == nil { first = action } else { rest.append(action) }
    }
}
