/// What has happened. `n` counts the changes of the channel's roster; who sees a gap, or statistics with a higher
/// number than its own, takes the whole roster.
package enum MediaEvent: Equatable, Sendable {
    case joined(uid: UInt32, flags: MediaFlags, n: Int64)
    case left(uid: UInt32, reason: MediaLeaveReason, n: Int64)
    case state(uid: UInt32, flags: MediaFlags, n: Int64)
    /// How the users' audio reaches the node, of those who are not muted, and the number of the roster's last change:
    /// events are told at most once, so that the last one before a silence may be lost unnoticed.
    case stats([MediaUplink], n: Int64)
    /// The service that the participant's key is for has ended: its media stop until a new key comes.
    case key
    /// The participant itself is over.
    case gone(MediaEndReason)
}

/// How a user's audio reaches the node.
package struct MediaUplink: Hashable, Sendable {
    package var uid: UInt32
    /// From the user to the node, in ms; half of the round trip.
    package var delay: Int
    /// What was lost on the way, in percent.
    package var loss: Int

    package init(uid: UInt32, delay: Int, loss: Int) {
        self.uid = uid
        self.delay = delay
        self.loss = loss
    }
}

/// Why a member has left, as the others are told.
package enum MediaLeaveReason: String, Sendable, CaseIterable {
    case quit, dropped, replaced, closed
}

/// Why a participant is over, as it is told itself.
package enum MediaEndReason: String, Sendable, CaseIterable {
    /// The uid has joined elsewhere.
    case replaced
    /// The service that its key was for has ended, and no new key came.
    case key
    /// The node has closed the channel, or has heard nothing from the participant.
    case closed
    /// It has sent more than it may for too long.
    case limit
}
