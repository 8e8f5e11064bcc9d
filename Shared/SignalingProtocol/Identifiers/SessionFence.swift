/// The session and gateway on whose behalf a request is made. When the session has ended or moved to another gateway,
/// Redis does nothing and refuses with ``SignalingCode/notLoggedIn`` (`session_over`).
///
/// A gateway that was cut off or suspended still sends what waits in its sockets when it continues. By then the account
/// may have a session at another gateway.
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
