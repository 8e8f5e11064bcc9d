/// The timers of a dialog. At most one of each kind runs; scheduling it again replaces it.
package enum DialogTimer: String, Sendable, CaseIterable {
    /// The telephone rings and is not answered.
    case ring
    /// A CANCEL was sent; the final response is overdue (RFC 3261, 9.1).
    case cancelled
    /// Our 2xx without ACK must be repeated (RFC 3261, 13.3.1.4).
    case retransmission
    /// The ACK of our 2xx is overdue.
    case acknowledgement
    /// We must refresh the session (RFC 4028, 10).
    case refresh
    /// The session was not refreshed in time.
    case expiry
    /// A re-INVITE that collided with the peer's may be tried again (RFC 3261, 14.1).
    case glare
    /// The call has ended, and late copies of a 2xx are not expected any more.
    case linger
}

/// Durations of a dialog.
package struct DialogDurations: Equatable, Sendable {
    /// RFC 3261's T1: the first pause between copies of a 2xx.
    package var t1 = Duration.milliseconds(500)
    /// RFC 3261's T2: the longest pause.
    package var t2 = Duration.seconds(4)

    /// The values of RFC 3261.
    package init() {}

    /// 64 × T1: how long to wait for an ACK, or for the final response to a cancelled INVITE.
    var transaction: Duration { t1 * 64 }
}
