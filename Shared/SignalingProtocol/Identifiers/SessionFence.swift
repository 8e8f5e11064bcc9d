/// The session and gateway on whose behalf a request is made. When the session has ended or moved to another gateway,
/// Redis does nothing and refuses with ``SignalingCode/notLoggedIn`` (`session_over`). Not so for messages in a cluster
/// whose sender's session is on another master than what they change: there the gateway itself stops in time, see
/// Docs/decisions/0021-senders-in-a-cluster.md.
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
