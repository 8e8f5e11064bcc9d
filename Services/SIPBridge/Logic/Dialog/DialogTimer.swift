/// The timers of a dialog. One of each kind runs at a time; scheduling it again replaces it.
package enum DialogTimer: String, Sendable, CaseIterable {
    /// The telephone rings, and nobody answers.
    case ring
    /// A CANCEL was sent; the final response is overdue (RFC 3261, 9.1).
    case cancelled
    /// A 2xx without ACK is to be repeated (RFC 3261, 13.3.1.4).
    case retransmission
    /// The ACK of a 2xx is overdue.
    case acknowledgement
    /// The session is to be refreshed by us (RFC 4028, 10).
    case refresh
    /// The session was not refreshed in time.
    case expiry
    /// A re-INVITE that met the peer's own may be tried again (RFC 3261, 14.1).
    case glare
    /// The dialog is over; late copies of a 2xx are no longer expected.
    case linger
}

/// The times of a dialog, ms.
package struct DialogDurations: Equatable, Sendable {
    /// RFC 3261's T1: the first pause between copies of a 2xx.
    package var t1: Int64 = 500
    /// RFC 3261's T2: the longest.
    package var t2: Int64 = 4000

    /// The standard's values.
    package init() {}

    /// 64 × T1: how long an ACK, or the end of a cancelled INVITE, may take.
    var transaction: Int64 { 64 * t1 }
}
