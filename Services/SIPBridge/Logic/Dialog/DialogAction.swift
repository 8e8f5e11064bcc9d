package import BusProtocol
internal import SignalingProtocol

/// What the driver must do, in order.
package enum DialogAction: Equatable, Sendable {
    /// Report to the invitation service. If it does not have the call any more, call
    /// ``DialogStateMachine/reportRefused()``; for a claim, call ``DialogStateMachine/claimAnswered(continues:)``.
    case report(PhoneAct, DialogNote)
    /// What is done only in calls to a telephone.
    case outbound(OutboundAction)
    /// What is done only in calls from a telephone.
    case inbound(InboundAction)
    /// Send the ACK for the event's 2xx, in the dialog with this tag. The first 2xx establishes that dialog.
    case acknowledge(tag: String)
    /// Apply the session description of the event's 2xx or ACK (or, if it has none, that of the latest provisional
    /// response), then call ``DialogStateMachine/descriptionTaken(_:)``.
    case takeDescription
    /// Start to send and receive media.
    case startMedia
    /// Respond to the event's request.
    case respond(DialogReply)
    /// Respond to the event's re-INVITE or UPDATE with 200, these fields and an answer (or an offer, if it had none),
    /// or with 488; then call ``DialogStateMachine/offerAnswered(_:)``.
    case answerOffer(DialogOffer, SessionHeaders)
    /// Send our latest 2xx again.
    case resendAnswer
    /// Refresh the session with an UPDATE without a description.
    case sendUpdate(SessionHeaders)
    /// Refresh the session with a re-INVITE that repeats our description.
    case sendReinvite(SessionHeaders)
    /// End the dialog.
    case sendBye
    /// Call ``DialogStateMachine/timerFired(_:)`` after this time.
    case schedule(DialogTimer, after: Duration)
    /// Cancel that timer.
    case cancel(DialogTimer)
    /// The call has ended: stop the media and all timers except those scheduled after this action.
    case close
    /// Forget the dialog, because no message of it is expected any more.
    case forget
}

/// What the driver of a call to a telephone must do.
package enum OutboundAction: Equatable, Sendable {
    /// Find the trunk and everything an INVITE needs, then call ``DialogStateMachine/prepared(ring:)`` or
    /// ``DialogStateMachine/unprepared(_:_:)``.
    case prepare
    /// Send the INVITE, with credentials for all challenges so far; also after a challenge or a 422.
    case sendInvite(SessionHeaders)
    /// CANCEL the INVITE that is in progress.
    case sendCancel
    /// End the dialog with this tag, which is not the call's, because another telephone answered too.
    case endFork(tag: String)
}

/// What the driver of a call from a telephone must do.
package enum InboundAction: Equatable, Sendable {
    /// Invite the user to whom the called number belongs, then call
    /// ``DialogStateMachine/invitationAnswered(continues:code:)``.
    case inviteUser
    /// Respond to the INVITE that began the call.
    case respond(DialogReply)
    /// Respond with 200 to that INVITE, with an answer, or with an offer if it had none.
    case accept(SessionHeaders)
}

/// A response without a description.
package enum DialogReply: Equatable, Sendable {
    /// 100.
    case trying
    /// 180.
    case ringing
    /// 200.
    case ok
    /// 200 to an UPDATE, with these fields.
    case refreshed(SessionHeaders)
    /// 408.
    case requestTimeout
    /// 422, with Min-SE.
    case intervalTooSmall(minimum: Duration)
    /// 480.
    case unavailable
    /// 481.
    case unknownDialog
    /// 486.
    case busy
    /// 487.
    case terminated
    /// 488.
    case notAcceptable
    /// 491.
    case pending
    /// 415.
    case unsupportedMediaType
    /// 500 with Retry-After: an earlier offer is not answered yet.
    case retryLater(after: Duration)
    /// 503.
    case serviceUnavailable

    /// The response's status code.
    package var status: Int {
        switch self {
        case .trying: 100
        case .ringing: 180
        case .ok, .refreshed: 200
        case .requestTimeout: 408
        case .unsupportedMediaType: 415
        case .intervalTooSmall: 422
        case .unavailable: 480
        case .unknownDialog: 481
        case .busy: 486
        case .terminated: 487
        case .notAcceptable: 488
        case .pending: 491
        case .retryLater: 500
        case .serviceUnavailable: 503
        }
    }

    /// The header fields of the response.
    package var headers: [SIPHeaderField] {
        switch self {
        case .refreshed(let headers): headers.lines
        case .intervalTooSmall(let minimum): [SIPHeaderField("Min-SE", "\(minimum.components.seconds)")]
        case .retryLater(let pause): [SIPHeaderField("Retry-After", "\(pause.components.seconds)")]
        case .trying, .ringing, .ok, .requestTimeout, .unsupportedMediaType, .unavailable, .unknownDialog, .busy,
            .terminated, .notAcceptable, .pending, .serviceUnavailable:
            []
        }
    }
}

/// A request from the peer that may change the session.
package struct DialogOffer: Equatable, Sendable {
    /// The request's method.
    package enum Kind: Equatable, Sendable {
        /// A re-INVITE: the 200 to it is repeated until the ACK.
        case reinvite
        /// An UPDATE.
        case update
    }

    /// The kind of request.
    package var kind: Kind
    /// Whether it contains a description. A re-INVITE without one asks for ours; the ACK then contains the answer.
    package var hasDescription: Bool

    /// Whether it begins an exchange of descriptions. An UPDATE without one does not (RFC 3311, 5.2).
    var wantsAnswer: Bool { kind == .reinvite || hasDescription }

    /// Creates an offer.
    package init(_ kind: Kind, hasDescription: Bool) {
        self.kind = kind
        self.hasDescription = hasDescription
    }
}
