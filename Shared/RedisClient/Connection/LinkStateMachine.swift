/// The states of a connection that reconnects by itself; no I/O and no clock.
struct LinkStateMachine: ~Copyable {
    private enum State {
        /// Not started. Goes to connecting, closed.
        case idle
        /// A socket is being opened, after this many failures in a row. Goes to handshaking, waiting, closed.
        case connecting(failures: Int)
        /// Credentials and libraries have been sent. Goes to up, waiting, closed.
        case handshaking(failures: Int)
        /// In use. Goes to waiting, closed.
        case up
        /// Pausing before the next attempt. Goes to connecting, closed.
        case waiting(failures: Int)
        /// Closed permanently.
        case closed
    }

    /// What the driver must do next.
    enum Action: Equatable {
        /// Nothing.
        case none
        /// Open a socket.
        case connect
        /// Send the handshake.
        case handshake
        /// Tell the owner that commands may be sent.
        case announceUp
        /// Tell the owner that the connection is lost, if it was up; then pause as after this many failures in a row.
        case wait(failures: Int, wasUp: Bool)
        /// Close the socket that was just opened, because the link has been closed meanwhile.
        case discard
        /// Close the socket, if any, and tell the owner that the connection is lost, if it was up.
        case close(wasUp: Bool)
    }

    private var state = State.idle

    mutating func start() -> Action {
        guard case .idle = state else { return .none }
        state = .connecting(failures: 0)
        return .connect
    }

    mutating func connected() -> Action {
        switch state {
        case .connecting(let failures):
            state = .handshaking(failures: failures)
            return .handshake
        case .closed: return .discard  // The link was closed while the socket was being opened.
        case .idle, .handshaking, .up, .waiting: return .none
        }
    }

    mutating func handshakeSucceeded() -> Action {
        guard case .handshaking = state else { return .none }
        state = .up
        return .announceUp
    }

    /// Records that the attempt failed or the connection broke.
    mutating func lost() -> Action {
        switch state {
        case .connecting(let failures), .handshaking(let failures):
            state = .waiting(failures: failures + 1)
            return .wait(failures: failures, wasUp: false)
        case .up:
            state = .waiting(failures: 1)
            return .wait(failures: 0, wasUp: true)
        case .idle, .waiting, .closed: return .none
        }
    }

    mutating func waited() -> Action {
        guard case .waiting(let failures) = state else { return .none }
        state = .connecting(failures: failures)
        return .connect
    }

    mutating func close() -> Action {
        switch state {
        case .up:
            state = .closed
            return .close(wasUp: true)
        case .idle, .connecting, .handshaking, .waiting:
            state = .closed
            return .close(wasUp: false)
        case .closed: return .none
        }
    }

    var isUp: Bool {
        guard case .up = state else { return false }
        return true
    }

    var isHandshaking: Bool {
        guard case .handshaking = state else { return false }
        return true
    }

    var isClosed: Bool {
        guard case .closed = state else { return false }
        return true
    }
}
