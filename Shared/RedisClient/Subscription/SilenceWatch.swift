internal import NIOCore

/// Detects half-open connections, which look the same as idle ones; no I/O and no clock.
struct SilenceWatch: Sendable {
    enum Verdict: Sendable, Equatable {
        case nothing
        /// Send PING.
        case ping
        /// Reconnect: nothing at all came back.
        case reconnect
    }

    private var hasHeard = true
    private var lastHeard = NIODeadline.uptimeNanoseconds(0)
    private var pingedAt: NIODeadline?

    /// There is a new connection.
    mutating func connected() {
        hasHeard = true
        pingedAt = nil
    }

    /// Something came.
    mutating func heard() { hasHeard = true }

    /// To be called once a second while connected.
    /// - Parameter silence: how long nothing comes before PING is sent, and then again
    ///   before the connection is given up.
    mutating func check(_ now: NIODeadline, silence: TimeAmount) -> Verdict {
        if hasHeard {
            hasHeard = false
            lastHeard = now
            pingedAt = nil
        } else if let pingedAt {
            if now - pingedAt >= silence { return .reconnect }
        } else if now - lastHeard >= silence {
            pingedAt = now
            return .ping
        }
        return .nothing
    }
}
