/// The states of a dialog, with their data.
enum DialogState: Equatable, Sendable {
    /// Before the first event. Goes to claiming, inviting, over.
    case fresh
    /// A call to a telephone, before it is up.
    case outbound(Outbound)
    /// A call from a telephone, before it is up.
    case inbound(Inbound)
    /// The call is up. Goes to leaving, over.
    case up(Established)
    /// Our BYE is in progress. Goes to over.
    case leaving
    /// The call has ended. Final.
    case over

    /// The states of a call to a telephone, before it is up.
    enum Outbound: Equatable, Sendable {
        /// Asking the invitation service whether this bridge gets the call. Goes to preparing, over.
        case claiming
        /// Looking up the trunk. Goes to calling, over.
        case preparing
        /// Our INVITE is in progress. Goes to confirming, cancelling, over.
        case calling(Calling)
        /// The call was given up before the answer; CANCEL is due or in progress. Goes to leaving, over.
        case cancelling(Cancelling)
        /// The 2xx is acknowledged, and its description is being applied. Goes to up, leaving, over.
        case confirming(DialogResponse)
    }

    /// The states of a call from a telephone, before it is up.
    enum Inbound: Equatable, Sendable {
        /// Asking the invitation service to invite the user. Goes to alerting, answering, over.
        case inviting(IncomingInvite)
        /// The user has been invited. Goes to answering, over.
        case alerting(IncomingInvite)
        /// Our 2xx waits for its ACK. Goes to up, leaving, over.
        case answering(Answering)
    }

    /// An INVITE that we have sent.
    struct Calling: Equatable, Sendable {
        /// Whether a provisional response has arrived; before that, CANCEL is not allowed.
        var isProceeding = false
        /// Whether the ringing was reported.
        var isRinging = false
        /// The Min-SE that a 422 requested.
        var minimum: Duration?
    }

    /// An INVITE of ours that is being cancelled.
    struct Cancelling: Equatable, Sendable {
        /// Whether CANCEL was sent.
        var isSent: Bool
    }

    /// The peer's INVITE, not answered yet.
    struct IncomingInvite: Equatable, Sendable {
        /// Whether it contains an offer; otherwise our 200 does.
        var hasOffer: Bool
        /// The session timer fields of the 200.
        var headers: SessionHeaders
        /// The session timer after the 200.
        var timer: SessionTimer
        /// Whether the peer supports UPDATE.
        var allowsUpdate: Bool
    }

    /// Our 2xx that waits for its ACK.
    struct Answering: Equatable, Sendable {
        /// The INVITE that it answers.
        var invite: IncomingInvite
        /// The time from the last copy of the 2xx to the next.
        var pause: Duration
        /// Whether the user has ended the call meanwhile: the BYE must wait for the ACK (RFC 3261, 15).
        var wantsEnd = false
    }

    /// An answered call.
    struct Established: Equatable, Sendable {
        /// Our request in progress that changes the session.
        enum OwnRequest: Equatable, Sendable {
            case update
            case reinvite
        }

        /// The peer's description that the driver is applying.
        enum DescriptionToApply: Equatable, Sendable {
            /// The first one: media start with it.
            case first
            /// A later one.
            case later
        }

        /// Our response to a request of the peer that changes the session.
        enum ResponseInProgress: Equatable, Sendable {
            /// The driver is making the response.
            case deciding(DialogOffer, SessionTimer)
            /// The 2xx to a re-INVITE waits for its ACK; its next copy is due after `pause`.
            case unacknowledged(pause: Duration, wantsDescription: Bool)
        }

        /// Whether we have called, and so have chosen the Call-ID.
        var isCaller: Bool
        /// The session timer, if any.
        var timer: SessionTimer?
        /// The Min-SE that a 422 requested.
        var minimum: Duration?
        /// Whether the peer supports UPDATE.
        var allowsUpdate: Bool
        /// Our request in progress, if any.
        var ownRequest: OwnRequest?
        /// Our response in progress to the peer's request, if any.
        var response: ResponseInProgress?
        /// The peer's description that is being applied, if any.
        var applying: DescriptionToApply?
    }
}
