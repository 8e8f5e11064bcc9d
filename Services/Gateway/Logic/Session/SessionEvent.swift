package import BusProtocol
package import Pacing
package import SignalingProtocol
package import SignalingWire

/// What a connection's driver reports to its ``ClientSession``, in groups by the part of it that they concern.
package enum SessionEvent: Sendable {
    // MARK: The client

    /// A ping arrived, with its value.
    case ping(JSONValue)
    /// A call arrived, with the size of its frame and its time of arrival.
    case call(CallRequest, bytes: Int, at: LocalTime)
    /// A login arrived; `isAllowed` is false when too many logins from its address have failed.
    case login(LoginRequest, isAllowed: Bool)
    /// A resume arrived; `isAllowed` as for a login.
    case lineLogin(LineLoginRequest, isAllowed: Bool)
    /// Much output waits for the client (true), or not any more (false).
    case output(isPaused: Bool)
    /// The connection was lost, or is being closed by force.
    case connectionLost
    /// The connection must be closed; its session stays alive.
    case close(SessionAction.Closing)

    // MARK: Calls

    /// A call was executed, or has failed.
    case answered(CallTicket, Result<ReplyBody, SignalingError>)
    /// A message was accepted (nil), or has failed; `channel` is set for a message to a channel.
    case messageAnswered(CallTicket, SignalingError?, channel: ChannelName?)
    /// The verdict on the question of ``SessionAction/Request/askHook(_:)``.
    indirect case hookAnswered(HookQuestion, HookVerdict)
    /// The next of those that wait has its turn, see ``SessionActions/hasNextTurn``.
    case nextTurn

    // MARK: The parts

    /// Concerns the login, the session and its end.
    case session(Session)
    /// Concerns the mailbox.
    case mailbox(Mailbox)
    /// Concerns the channel.
    case channel(Channel)
}

extension SessionEvent {
    /// What concerns the login, the session and its end.
    package enum Session: Sendable {
        /// The reply to ``SessionAction/Request/askApp(_:)``, with the id and the secret for the new session.
        case appAnswered(Result<AppSettings, SignalingError>, session: SessionID, secret: String)
        /// The limits of the app whose session is being resumed.
        case limits(AppLimits)
        /// What the app's server is asked about from now on; nil while that is not known.
        case hooks(HookPoints?)
        /// The session's app, as the one text that all sessions of the app here share.
        case app(AppID)
        /// The reply to ``SessionAction/Request/open(_:)``.
        case opened(Result<SessionOpened, SignalingError>)
        /// The reply to ``SessionAction/Request/resume(_:)``.
        case resumed(Result<SessionResumed, SignalingError>)
        /// The result of ``SessionAction/Session/takeRates(_:)``; nil when none are kept.
        case ratesTaken(SessionRates?)
        /// The reply to ``SessionAction/Request/logOut(_:_:)``; nil when the session has ended.
        case loggedOut(CallTicket, SignalingError?)
        /// The session was moved to another connection or has ended elsewhere.
        case superseded(ConnectionStateMachine.Ending)
        /// The gateway ends the session for good.
        case end(SignalingCode)
        /// It is time to check whether the session's token has expired.
        case tokenCheck
    }

    /// What concerns the mailbox.
    package enum Mailbox: Sendable {
        /// An entry was published; the version before it is given.
        case published(MailboxEntry, after: Int64)
        /// The pause of ``SessionAction/Request/awaitEarlierMail(gap:)`` has passed.
        case gapDue(Int32)
        /// Publications may have been lost.
        case resynchronize
        /// Redis has reported the last version that it assigned.
        case latest(Int64)
        /// The reply to ``SessionAction/Request/loadMailbox(_:after:fresh:)``.
        case loaded(Result<MailboxPage, SignalingError>)
        /// The pause of ``SessionAction/Request/loadMailboxLater`` has passed.
        case loadDue
        /// ``SessionAction/Request/clearMailbox(_:through:)`` has failed.
        case notCleared(SignalingError)
        /// The time of ``SessionAction/startPollTimer(after:)`` has passed.
        case pollTimerFired
    }

    /// What concerns the channel.
    package enum Channel: Sendable {
        /// The result of ``SessionAction/Request/subscribe(_:)``. The positions are those of the channel's feed, and of
        /// the feed of the channel that the session is in.
        case subscribed(ChannelKey, Bool, last: ChannelPosition?, left: ChannelPosition?)
        /// The reply to ``SessionAction/Request/join(_:_:_:number:)``.
        case joined(CallTicket, Result<JoinedChannel, SignalingError>)
        /// The reply to ``SessionAction/Request/leave(_:_:_:number:)``; nil for success.
        case left(CallTicket, SignalingError?)
        /// The app has removed the session from a channel.
        case removed(ChannelRemoval)
        /// Events of the session's channel, in order, that the fan-out may not send by itself: after
        /// ``SessionAction/Channel/holdEvents``, or when some are not above the id of
        /// ``SessionAction/Channel/showAll(after:)``.
        case published([ChannelEvent])
        /// The result of ``SessionAction/Request/readLog(_:after:number:)``; nil when the read failed. `last` is the
        /// position of the channel's feed.
        case logRead(number: Int, ChannelLogPage?, last: ChannelPosition?)
        /// The reply to ``SessionAction/Request/undoJoin(_:_:settlement:)``: whether the join is undone.
        case joinUndone(settlement: Int, Bool)
        /// The reply to ``SessionAction/Request/askMembership(_:_:settlement:)``; nil when there was none.
        case membershipTold(settlement: Int, isMember: Bool?)
        /// The pause of ``SessionAction/Request/settleLater(_:)`` has passed.
        case settlementDue(Int)
    }
}
