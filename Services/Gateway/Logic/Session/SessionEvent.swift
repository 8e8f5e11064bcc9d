package import SignalingProtocol
package import SignalingWire

/// What a connection's driver reports to its ``ClientSession``.
package enum SessionEvent: Sendable {
    // MARK: The client

    /// A frame other than a login or resume arrived, with its size and its time of arrival.
    case frame(ClientFrame, bytes: Int, at: LocalTime)
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

    // MARK: Presence

    /// The reply to ``SessionAction/askApp(_:)``, with the id and the secret for the new session.
    case appAnswered(Result<AppSettings, SignalingError>, session: SessionID, secret: String)
    /// The limits of the app whose session is being resumed.
    case limits(AppLimits)
    /// What the app's server is asked about from now on; nil while that is not known.
    case hooks(HookPoints?)
    /// The verdict on the question of ``SessionAction/askHook(_:)``.
    indirect case hookAnswered(HookQuestion, HookVerdict)
    /// The reply to ``SessionAction/open(_:)``.
    case opened(Result<SessionOpened, SignalingError>)
    /// The reply to ``SessionAction/resume(_:)``.
    case resumed(Result<SessionResumed, SignalingError>)
    /// The result of ``SessionAction/takeRates(_:)``; nil when none are kept.
    case ratesTaken(SessionRates?)
    /// The reply to ``SessionAction/logOut(_:_:)``; nil when the session has ended.
    case loggedOut(CallTicket, SignalingError?)
    /// The session was moved to another connection or has ended elsewhere.
    case superseded(ConnectionStateMachine.Ending)
    /// The gateway ends the session for good.
    case end(SignalingCode)
    /// It is time to check whether the session's token has expired.
    case tokenCheck

    // MARK: Calls

    /// A call was executed, or has failed.
    case answered(CallTicket, Result<ReplyBody, SignalingError>)
    /// A message was accepted (nil), or has failed; `channel` is set for a message to a channel.
    case messageAnswered(CallTicket, SignalingError?, channel: ChannelName?)
    /// One step of the waiting work may proceed, see ``SessionActions/goesOn``.
    case goOn

    // MARK: The mailbox

    /// An entry was published; the version before it is given.
    case mail(MailboxEntry, after: Int64)
    /// Publications may have been lost.
    case resynchronizeMailbox
    /// Redis has reported the last version that it assigned.
    case mailboxIs(at: Int64)
    /// The reply to ``SessionAction/loadMailbox(_:after:fresh:)``.
    case mailboxLoaded(Result<MailboxPage, SignalingError>)
    /// The pause of ``SessionAction/loadMailboxLater`` has passed.
    case mailboxLoadDue
    /// ``SessionAction/clearMailbox(_:through:)`` has failed.
    case mailboxNotCleared(SignalingError)
    /// The time of ``SessionAction/startPollTimer(after:)`` has passed.
    case pollTimerFired

    // MARK: The channel

    /// The result of ``SessionAction/subscribe(_:)``. The positions are those of the channel's feed, and of the feed of
    /// the channel that the session is in.
    case subscribed(ChannelKey, Bool, last: ChannelPosition?, left: ChannelPosition?)
    /// The reply to ``SessionAction/join(_:_:_:number:)``.
    case joined(CallTicket, Result<ChannelJoined, SignalingError>)
    /// The reply to ``SessionAction/leave(_:_:_:number:)``; nil for success.
    case left(CallTicket, SignalingError?)
    /// Events of the session's channel, in order, that the fan-out may not send by itself: after
    /// ``SessionAction/holdEvents``, or when some are not above the id of ``SessionAction/showAll(after:)``.
    case published([ChannelEvent])
    /// The result of ``SessionAction/readLog(_:after:number:)``; nil when the read failed. `last` is the position of
    /// the channel's feed.
    case logRead(number: Int, ChannelLogPage?, last: ChannelPosition?)
    /// The reply to ``SessionAction/undoJoin(_:_:settlement:)``: whether the join is undone.
    case joinUndone(settlement: Int, Bool)
    /// The reply to ``SessionAction/askMembership(_:_:settlement:)``; nil when there was none.
    case membershipTold(settlement: Int, isMember: Bool?)
    /// The pause of ``SessionAction/settleLater(_:)`` has passed.
    case settlementDue(Int)
}
