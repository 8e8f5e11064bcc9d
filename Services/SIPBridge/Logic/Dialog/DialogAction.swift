package import SignalingProtocol

/// What the driver has to do, in order.
package enum DialogAction: Equatable, Sendable {
    /// Report to the invitation service. If it no longer has the call, call ``DialogStateMachine/reportRefused()``; a
    /// claim has an answer of its own, ``DialogStateMachine/claimAnswered(stands:)``.
    case report(PhoneAct, DialogNote)
    /// Invite the user that the called number belongs to, then call ``DialogStateMachine/invitationAnswered(stands:code:)``.
    case inviteUser
    /// Find the trunk and everything an INVITE needs, then call ``DialogStateMachine/prepared(ring:)`` or
    /// ``DialogStateMachine/unprepared(_:_:)``.
    case prepare
    /// Send the first INVITE, with credentials for all challenges so far; also anew after a challenge or a 422.
    case sendInvite(SessionHeaders)
    /// CANCEL the INVITE that is under way.
    case sendCancel
    /// Send the ACK for the current 2xx, in the dialog with this tag. The first 2xx establishes that dialog.
    case acknowledge(tag: String)
    /// End the dialog with this tag, which is not the call's: another telephone answered too.
    case endFork(tag: String)
    /// Apply the session description of the current 2xx or ACK (or, if it has none, that of the latest provisional
    /// response), then call ``DialogStateMachine/descriptionTaken(_:)``.
    case takeDescription
    /// Begin to send and receive media.
    case startMedia
    /// Respond to the first INVITE, the call's own.
    case respondInvite(DialogReply)
    /// Respond 200 to that INVITE, with an answer (or, if it had no offer, with an offer).
    case acceptInvite(SessionHeaders)
    /// Respond to the current request.
    case respond(DialogReply)
    /// Answer the current re-INVITE or UPDATE: 200 with these fields and an answer (or an offer, if it had none), or
    /// 488; then call ``DialogStateMachine/offerAnswered(_:)``.
    case answerOffer(DialogOffer, SessionHeaders)
    /// Send the latest 2xx of ours once more.
    case resendAnswer
    /// Refresh the session with an UPDATE without a description.
    case sendUpdate(SessionHeaders)
    /// Refresh the session with a re-INVITE that repeats our description.
    case sendReinvite(SessionHeaders)
    /// End the dialog.
    case sendBye
    /// Call ``DialogStateMachine/timerFired(_:dice:)`` after so many ms.
    case schedule(DialogTimer, after: Int64)
    /// Cancel that timer.
    case cancel(DialogTimer)
    /// The call is over: stop the media and all timers but what is scheduled after this.
    case close
    /// No message of the dialog is expected any more: drop it.
    case forget
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
    case intervalTooSmall(minimum: Int)
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
    /// 500 with Retry-After, s: an earlier offer is not answered yet.
    case retryLater(seconds: Int)
    /// 503.
    case serviceUnavailable

    /// The status code.
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

    /// The header fields that it comes with.
    package var headers: [SIPHeaderField] {
        switch self {
        case .refreshed(let headers): headers.lines
        case .intervalTooSmall(let minimum): [SIPHeaderField("Min-SE", "\(minimum)")]
        case .retryLater(let seconds): [SIPHeaderField("Retry-After", "\(seconds)")]
        case .trying, .ringing, .ok, .requestTimeout, .unsupportedMediaType, .unavailable, .unknownDialog, .busy,
            .terminated, .notAcceptable, .pending, .serviceUnavailable:
            []
        }
    }
}

/// A peer's request that may change the session.
package struct DialogOffer: Equatable, Sendable {
    /// The request's method.
    package enum Kind: Equatable, Sendable {
        /// A re-INVITE: its 200 is repeated until the ACK.
        case reinvite
        /// An UPDATE.
        case update
    }

    /// How it came.
    package var kind: Kind
    /// Whether it has a description. A re-INVITE without one asks for ours; the ACK has the answer.
    package var hasDescription: Bool

    /// Makes an offer.
    package init(_ kind: Kind, hasDescription: Bool) {
        self.kind = kind
        self.hasDescription = hasDescription
    }
}
