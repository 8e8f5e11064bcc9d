/// The session and gateway that an act comes from. Redis refuses the act when the session is over or has moved to another gateway,
/// with ``SignalingCode/notLoggedIn`` (`session_over`) and does nothing.
///
/// A gateway that was cut off or frozen still carries out what waits in its sockets once it is back; by then the account may have
/// a session at another gateway.
package struct SessionFence: Equatable, Sendable {
    /// The session that acts.
    package var session: SessionID
    /// The gateway that holds its connection.
    package var gateway: GatewayID

    package init(session: SessionID, gateway: GatewayID) {
        self.session = session
        self.gateway = gateway
    }
}
