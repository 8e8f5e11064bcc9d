package import BusProtocol
package import SignalingProtocol

extension ConnectionStateMachine {
    /// How the gateway ends a connection whose session has ended or moved.
    package enum Ending: Equatable, Sendable {
        /// Send a `close` frame with this code first.
        case closeFrame(SignalingCode)
        /// Send no `close` frame: the session continues on another connection.
        case silent
    }

    /// What the driver must do.
    package enum Action: Equatable, Sendable {
        /// Request the app's settings, then call ``appAnswered(_:session:secret:now:)``.
        case askApp(AppID)
        /// Ask the app's server, then call ``authorized(_:)``.
        case askHook(HookQuestion)
        /// Open this session in presence, then call ``opened(_:)``.
        case open(Session)
        /// Move this session to this gateway, then call ``resumed(_:)``.
        case resume(Session)
        /// Write the login's answer and start the mailbox, which was empty if it is given.
        case loggedIn(ActiveSession, EmptyMailbox?)
        /// Write the resume's answer, start the mailbox, which was empty if it is given, and continue in the channel,
        /// if there is one; `after` as in ``lineLogin(_:after:)``.
        case resumed(ActiveSession, ChannelPlace, after: Int64?, EmptyMailbox?)
        /// Write the login's refusal, then end the connection.
        case refuse(SignalingError)
        /// As `refuse`. Unless it was not asked, presence may have opened the session although no reply arrived, so it
        /// must be informed that there is no connection.
        case refuseOpened(SignalingError, Session)
        /// Write a `close` frame with the error's code, then end. Presence may have moved the session here although no
        /// reply arrived.
        case refuseResumed(SignalingError, Session)
        /// As `refuseResumed`, but the connection was lost meanwhile.
        case noteRefusedResume(SignalingError, Session)
        /// Refuse a login or resume, because the connection already has a session; that session continues.
        case refuseSecond(isResume: Bool)
        /// End the connection.
        case end(Ending)
        /// Tell presence that the session continues without a connection.
        case detach(Session)
        /// As `detach`, but presence may not have placed the session here.
        case detachDoubtful(Session)
        /// Nothing.
        case none
    }
}
