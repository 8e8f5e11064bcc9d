/// What the machine knows at each stage of a dialog.
enum DialogState: Equatable, Sendable {
    /// Before the first event. Goes to claiming, inviting, over.
    case fresh
    /// Outbound: the invitation service is asked whether the call is ours. Goes to preparing, over.
    case claiming
    /// Outbound: the trunk is looked up. Goes to calling, over.
    case preparing
    /// Outbound: INVITE is under way. Goes to confirming, cancelling, over.
    case calling(Calling)
    /// Outbound: the call is given up before its answer; CANCEL is due or under way. Goes to leaving, over.
    case cancelling(Cancelling)
    /// Outbound: the 2xx is acknowledged, its description being taken. Goes to up, leaving, over.
    case confirming(DialogResponse)
    /// Inbound: the invitation service is asked to invite the user. Goes to alerting, over.
    case inviting(Arriving)
    /// Inbound: the user is invited. Goes to answering, over.
    case alerting(Arriving)
    /// Inbound: our 2xx waits for its ACK. Goes to up, leaving, over.
    case answering(Answering)
    /// The call is up. Goes to leaving, over.
    case up(Standing)
    /// Our BYE is under way. Goes to over.
    case leaving
    /// The call is over. Final.
    case over

    /// An INVITE of ours.
    struct Calling: Equatable, Sendable {
        /// Whether a provisional response came, without which CANCEL is not allowed.
        var isProceeding = false
        /// Whether ringing was reported.
        var isRinging = false
        /// The Min-SE that a 422 asked for.
        var minimum: Int?
    }

    /// An INVITE of ours that is being cancelled.
    struct Cancelling: Equatable, Sendable {
        /// Whether CANCEL was sent.
        var isSent: Bool
    }

    /// An INVITE of the peer's that is not answered.
    struct Arriving: Equatable, Sendable {
        /// Whether it has an offer; else ours goes with the 200.
        var hasOffer: Bool
        /// What the 200 will say.
        var headers: SessionHeaders
        /// The session timer after that.
        var timer: SessionTimer
        /// Whether the peer takes UPDATE.
        var allowsUpdate: Bool
    }

    /// A 2xx of ours that waits for its ACK.
    struct Answering: Equatable, Sendable {
        /// The INVITE.
        var invite: Arriving
        /// When the next copy is due, ms after the last.
        var pause: Int64
        /// Whether the user ended the call meanwhile: BYE must wait for the ACK (RFC 3261, 15).
        var wantsEnd = false
    }

    /// A call that is up.
    struct Standing: Equatable, Sendable {
        /// A request of ours that is under way and changes the session.
        enum Own: Equatable, Sendable {
            case update
            case reinvite
        }

        /// A description of the peer's that is being taken.
        enum Taking: Equatable, Sendable {
            /// The first: media starts with it.
            case first
            /// A later one.
            case later
        }

        /// An answer of ours to a request of the peer's.
        enum Peers: Equatable, Sendable {
            /// The driver is making the answer.
            case deciding(DialogOffer, SessionTimer)
            /// The 2xx to a re-INVITE waits for its ACK; the next copy is due after `pause`.
            case unacknowledged(pause: Int64, wantsDescription: Bool)
        }

        /// Whether we made the call, and with it the Call-ID.
        var isCaller: Bool
        /// The session timer, if there is one.
        var timer: SessionTimer?
        /// The Min-SE that a 422 asked for.
        var minimum: Int?
        /// Whether the peer takes UPDATE.
        var allowsUpdate: Bool
        /// Our request.
        var own: Own?
        /// The peer's.
        var peers: Peers?
        /// The peer's answer that the driver is taking.
        var taking: Taking?
    }
}
