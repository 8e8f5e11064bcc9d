package import BusProtocol
package import SignalingProtocol

extension ConnectionStateMachine {
    /// The session of a connection. Its properties are in an order that leaves few gaps between them.
    package struct Session: Equatable, Sendable {
        /// The session's line.
        package var line: Line
        /// The account's numeric id; 0 until known.
        package var uid: UInt32 = 0
        /// Whether the client accepts pushed mailbox entries.
        package var push: Bool
        /// The client's `device` field.
        package var device: String
        /// When the login's token expires, in Unix seconds; 0 when there was none.
        package var tokenExpiry: Int64 = 0
        /// When the session was opened, and this gateway's claim on it.
        package var hold = SessionHold()

        /// Creates a session as requested by a login.
        package init(line: Line, device: String, push: Bool) {
            self.line = line
            self.device = device
            self.push = push
        }

        /// The session's user.
        package var user: UserKey { line.user }

        /// The session in this channel, as reported in a reassertion.
        func held(at place: HeldPlace) -> HeldSession {
            var held = HeldSession(line: line, uid: uid, device: device, push: push, tokenExpiry: tokenExpiry)
            held.hold = hold
            held.place = place
            return held
        }
    }
}
