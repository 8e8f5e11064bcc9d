/// What an act in a session's name is checked against: an act of a session that is over, or that goes on at another gateway, is
/// refused with ``SignalingCode/notLoggedIn`` (`session_over`) and does nothing.
///
/// A gateway that was cut off or frozen carries out what waits in its sockets when it is back; others may have the account
/// by then.
package struct SessionFence: Equatable, Sendable {
    /// The session that acts.
    package var session: SessionID
    /// The gateway that holds its connection.
    package var gateway: GatewayID

    /// Makes a fence.
    package init(session: SessionID, gateway: GatewayID) {
        self.session = session
        self.gateway = gateway
    }
}
