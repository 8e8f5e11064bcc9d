package import SignalingProtocol
package import SignalingWire

/// What a connection's driver tells its ``ClientSession``.
package enum SessionEvent: Sendable {
    // MARK: The client

    /// A frame came, of so many bytes, at this time of ``SessionEnvironment/uptime``. A login comes as ``login(_:isAllowed:)``.
    case frame(ClientFrame, bytes: Int, at: UInt64)
    /// The client logs in; not allowed where too many logins of its address have failed.
    case login(LoginRequest, isAllowed: Bool)
    /// What was sent waits for the client, or does so no longer.
    case output(isPaused: Bool)
    /// The connection is gone, or is being cut off.
    case connectionLost
    /// The connection is to be closed, and the session lives on.
    case close(SessionAction.Closing)

    // MARK: Presence

    /// The app's settings; and what the new session is to be called.
    case appAnswered(Result<AppSettings, SignalingError>, session: SessionID, secret: String)
    /// The limits of the app whose session is being resumed.
    case limits(AppLimits)
    /// Answers ``SessionAction/open(_:)``.
    case opened(Result<SessionOpened, SignalingError>)
    /// Answers ``SessionAction/resume(_:)``.
    case resumed(Result<SessionResumed, SignalingError>)
    /// Answers ``SessionAction/takeRates(_:)``; nil where nothing is known of the session.
    case ratesTaken(SessionRates?)
    /// Answers ``SessionAction/logOut(_:)``; nil where the session was ended.
    case loggedOut(CallTurn, SignalingError?)
    /// The session was taken over or ended elsewhere.
    case superseded(ConnectionStateMachine.Ending)
    /// The gateway ends the session for good.
    case end(SignalingCode)
    /// It is time to look whether the session's token has expired.
    case tokenCheck

    // MARK: Calls

    /// A call was done, or was not.
    case answered(CallTurn, Result<ReplyBody, SignalingError>)
    /// A message was taken, nil, or was not; `channel` where it was sent to one.
    case messageAnswered(CallTurn, SignalingError?, channel: ChannelName?)
    /// One of the steps that ``ClientSession/canGoOn`` tells of is to be done.
    case goOn

    // MARK: The mailbox

    /// An entry was published, after the entry of another version.
    case mail(MailboxEntry, after: Int64)
    /// Publications may have been lost.
    case resynchronizeMailbox
    /// Redis tells which version it gave last.
    case mailboxIs(at: Int64)
    /// Answers ``SessionAction/loadMailbox(after:fresh:)``.
    case mailboxLoaded(Result<MailboxPage, SignalingError>)
    /// The pause of ``SessionAction/loadMailboxLater`` is over.
    case mailboxLoadDue
    /// Answers ``SessionAction/clearMailbox(through:)`` where it has failed.
    case mailboxNotCleared(SignalingError)
    /// The time of ``SessionAction/startPollTimer(milliseconds:)`` is over.
    case pollTimerFired

    // MARK: The channel

    /// Answers ``SessionAction/subscribe(_:)``. The positions are those of the channel's feed, and of the feed of the channel
    /// that the session is in.
    case subscribed(ChannelKey, Bool, last: ChannelPosition?, left: ChannelPosition?)
    /// Answers ``SessionAction/join(_:_:number:)``.
    case joined(CallTurn, Result<ChannelJoined, SignalingError>)
    /// Answers ``SessionAction/leave(_:_:number:)``; nil where it has succeeded.
    case left(CallTurn, SignalingError?)
    /// Answers ``SessionAction/readLog(_:after:number:)``; nil where the log could not be read. `last` is the position of the
    /// channel's feed.
    case logRead(number: Int, ChannelLogPage?, last: ChannelPosition?)
    /// Answers ``SessionAction/undoJoin(_:settlement:)``: whether it is undone.
    case joinUndone(settlement: Int, Bool)
    /// Answers ``SessionAction/askMembership(_:settlement:)``; nil where nobody answered.
    case membershipTold(settlement: Int, isMember: Bool?)
    /// The pause of ``SessionAction/settleLater(_:)`` is over.
    case settlementDue(Int)
}
