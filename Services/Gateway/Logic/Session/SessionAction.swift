package import BusProtocol
package import SignalingProtocol
package import SignalingWire

/// What a connection's driver must do for its ``ClientSession``, in groups by who does it. Actions contain only ids and
/// values; a reply comes back as a ``SessionEvent`` with the same ids.
package enum SessionAction: Equatable, Sendable {
    // MARK: The client

    /// Send a frame; `isAnswer` if the client has requested it.
    case send([UInt8], isAnswer: Bool)
    /// Write a close frame after everything that was written, then close.
    case close(Closing)
    /// Disconnect the client, because more than ``Membership/heldBound`` events wait for the answer to its call. It may
    /// resume.
    case cutOff
    /// Start or stop reading from the client.
    case setReading(Bool)
    /// Raise the bound of waiting output, because the client is logged in.
    case raiseOutputBound
    /// Let the client send as much as a session may, because its calls are accepted from now on: those that contain the
    /// session's ``ClientSession/line``.
    case raisePace
    /// Count something in the metrics.
    case count(Count)
    /// Log an error in the gateway itself: a combination that the session's states exclude has occurred.
    case logError(String)

    // MARK: Calls

    /// Send a message.
    case sendMessage(StartedCall, ClientCall.MessageAct)
    /// Have a service do this.
    case askService(StartedCall, ClientCall.ServiceAct)
    /// Send ``SessionEvent/Mailbox/pollTimerFired`` after this time.
    case startPollTimer(after: Duration)
    /// Stop that timer.
    case cancelPollTimer

    // MARK: The parts of the gateway

    /// A request to Redis or a service, whose reply is awaited.
    case request(Request)
    /// What the shard keeps of the session.
    case session(Session)
    /// The connection's part in the shard's channel.
    case channel(Channel)
}

extension SessionAction {
    /// A request to Redis or a service, or a pause before it is repeated.
    package enum Request: Equatable, Sendable {
        /// Request the app's settings.
        case askApp(AppID)
        /// Ask the app's server whether something may happen. Indirect, because a login's
        /// question would enlarge each action.
        indirect case askHook(HookQuestion)
        /// Open this session in presence.
        case open(ConnectionStateMachine.Session)
        /// Move this session to this gateway, and request its app's settings, which are told before the reply.
        case resume(ConnectionStateMachine.Session)
        /// End the session for good.
        case endSession(SessionID, UserKey)
        /// End the session at its client's request.
        case logOut(ActiveSession, CallTicket)
        /// Read the mailbox above this version. If `fresh`, stale call events are dropped first.
        case loadMailbox(ActiveSession, after: Int64, fresh: Bool)
        /// Send ``SessionEvent/Mailbox/loadDue`` after a pause.
        case loadMailboxLater
        /// Send ``SessionEvent/Mailbox/gapDue(_:)`` after a pause: an entry was told of before the one before it.
        case awaitEarlierMail(gap: Int32)
        /// Delete entries up to this version in Redis.
        case clearMailbox(ActiveSession, through: Int64)
        /// Subscribe to the channel.
        case subscribe(ChannelKey)
        /// Ask channel-state to join the channel, with this number of ``ChannelPlace``.
        case join(ActiveSession, CallTicket, ChannelName, number: Int64)
        /// Ask channel-state to leave the channel, with this number of ``ChannelPlace``.
        case leave(ActiveSession, CallTicket, ChannelName, number: Int64)
        /// Read the channel's log above this position.
        case readLog(ChannelKey, after: ChannelPosition, number: Int)
        /// Leave the channel, in case a join without an answer took effect.
        case undoJoin(ActiveSession, ChannelName, settlement: Int)
        /// Ask whether the user is a member of the channel.
        case askMembership(ActiveSession, ChannelKey, settlement: Int)
        /// Send ``SessionEvent/Channel/settlementDue(_:)`` after a pause.
        case settleLater(Int)
    }

    /// What the shard keeps of a session.
    package enum Session: Equatable, Sendable {
        /// Register the session for this connection, and close an older connection of it.
        case bind(SessionID)
        /// Remove the session's registration for this connection.
        case unbind(SessionID)
        /// Look up the rates that an earlier connection of the session has left.
        case takeRates(SessionID)
        /// Keep the session's rates for the connection on which it is resumed. Indirect, because the rates are large
        /// and each action would take up their space.
        indirect case keepRates(SessionID, SessionRates)
        /// Tell presence that the session continues without a connection; the claim is nil when presence has not told
        /// it.
        case detach(SessionID, UserKey, claim: Int64? = nil)
        /// Remember the session, whose connection is lost, in case Redis loses it. Indirect, because sessions are
        /// large.
        indirect case remember(HeldSession)
        /// As `detach`, for a session that presence may not have placed here, because its login or resume has failed.
        case detachDoubtful(SessionID, UserKey)
        /// Ask presence soon where the session is.
        case askWhoseSession(SessionID)
    }

    /// The connection's part in the shard's channel.
    package enum Channel: Equatable, Sendable {
        /// End a subscription, which is not used after all, unless it serves another connection of the shard.
        case unsubscribe(ChannelKey)
        /// Make the connection a member of the channel in this shard, under this account.
        case enter(ChannelKey, as: Account)
        /// Remove the connection from the channel in this shard, without informing channel-state.
        case leaveLocally
        /// From now on the channel's events are passed to the session, as ``SessionEvent/Channel/published(_:)``.
        case holdEvents
        /// From now on the client receives all events of the channel above this id: they need not be passed to the
        /// session.
        case showAll(after: Int64)
        /// Tell the channel's feed that it has reached this position.
        case advanceFeed(ChannelPosition)
        /// Send these events of the channel to the client.
        case show([ChannelEvent])
        /// Send the client its own leave, by which it knows that the app has removed it from the channel. Indirect,
        /// because events are large.
        indirect case showRemoval(ChannelEvent)
        /// Number the events that are sent to the client above this id, the last that it has
        /// received on another connection.
        case continueIDs(after: Int64)
    }

    /// Why the gateway closes a connection; determines the code of the WebSocket close frame.
    package enum Closing: Equatable, Sendable {
        /// The conversation has ended normally.
        case normal
        /// The gateway drops this connection; its session can be resumed.
        case goingAway
        /// The client exceeds what it is allowed to do.
        case tooMuch
        /// The client's address is banned.
        case banned
        /// The gateway is stopping; the session can be resumed on another one.
        case restart
    }

    /// Something to count in the metrics, and in some cases to log.
    package enum Count: Equatable, Sendable {
        /// A session was opened, or resumed.
        case login, resume
        /// A login or resume was refused; `isOfTheLogin`: because of what the client sent, not
        /// because of the cluster's state.
        case loginFailure(isOfTheLogin: Bool)
        /// A login or resume was refused because too many from the client's address have failed.
        case loginLimited
        /// A call has failed.
        case callFailure
        /// A message or another act was refused because of a rate limit.
        case messageLimited, actLimited
        /// A call on a special channel was refused.
        case specialChannelRefused
        /// A poll was delayed because of a rate limit.
        case pollDelayed
        /// A call was not answered in time.
        case overdue
        /// Reading from the client was paused.
        case readingPaused
        /// Redis has lost messages of which it had informed the gateway.
        case mailboxReset
        /// A message was refused because the mailbox, or Redis, is full.
        case mailboxFull, memoryFull
        /// A resume was given up because its channel's events were not available.
        case resumeAbandoned(ChannelName)
        /// A join's outcome is unknown.
        case joinUnsettled
        /// The client sent more calls than may wait.
        case tooManyCalls
    }
}

/// What an event causes: actions, in order. Most events cause at most one, which needs no heap memory.
package struct SessionActions: Equatable, Sendable {
    /// The first action; nil when there is none.
    package private(set) var first: SessionAction?
    /// The actions after the first.
    package private(set) var rest: [SessionAction] = []
    /// Whether a waiting call, push or missed event may be served: ``SessionEvent/nextTurn`` must follow, behind these
    /// actions and the events that they cause.
    package internal(set) var hasNextTurn = false

    /// Creates an empty list.
    package init() {}

    /// All actions.
    package var all: [SessionAction] { first.map { [$0] + rest } ?? [] }

    mutating func append(_ action: SessionAction) {
        if first == nil { first = action } else { rest.append(action) }
    }
}
