internal import SignalingProtocol

/// Why a call ended; the raw value is the `reason` in the user's `extra`.
package enum DialogReason: String, Sendable, CaseIterable {
    /// Busy or declined.
    case refused
    /// A final response other than busy, declined, unavailable or timeout.
    case rejected
    /// The telephone is not reachable now (480).
    case offline = "peer_offline"
    /// Nobody answered.
    case timeout
    /// The telephone or its trunk cannot be reached.
    case unreachable
    /// The app has no trunk.
    case noTrunk = "no_trunk"
    /// The trunk's settings cannot be read now.
    case storeUnavailable = "store_unavailable"
    /// The callee is no telephone number that can be dialled.
    case invalidNumber = "invalid_number"
    /// The app's users may not call that number.
    case numberNotAllowed = "number_not_allowed"
    /// The caller may not be shown under that number.
    case callerNotAllowed = "caller_not_allowed"
    /// A header that the caller asked for is not allowed.
    case invalidHeader = "invalid_header"
    /// The telephone answered with media that we cannot take.
    case unusableMedia = "unusable_media"
    /// The telephone hung up.
    case hangup
    /// The telephone never acknowledged our answer.
    case unacknowledged
    /// No media came.
    case mediaTimeout = "rtp_timeout"
    /// Nobody refreshed the session.
    case sessionExpired = "session_expired"
    /// The peer no longer knows the dialog (481, 408).
    case dialogLost = "dialog_lost"
    /// The bridge stops.
    case bridgeStopped = "bridge_stopped"
    /// The bridge lost its lease, so that the invitation service ended the call.
    case bridgeLost = "bridge_lost"
    /// The bridge cannot take one more call.
    case overloaded
}

/// Details of a report: the reason, and the SIP response behind it, if there was one.
package struct DialogNote: Equatable, Sendable {
    /// Why; nil for a step that needs no reason.
    package var reason: DialogReason?
    /// The status of the response.
    package var status: Int?
    /// Its reason phrase.
    package var phrase: String?

    /// Makes a note.
    package init(_ reason: DialogReason? = nil, status: Int? = nil, phrase: String? = nil) {
        self.reason = reason
        self.status = status
        self.phrase = phrase
    }

    /// A note of a response.
    init(_ reason: DialogReason?, _ response: DialogResponse) {
        self.init(reason, status: response.status, phrase: response.phrase)
    }
}

/// What a final response to INVITE means for the caller.
enum DialogVerdict {
    /// The act to report for a response of 300 or more.
    static func act(for response: DialogResponse) -> (PhoneAct, DialogNote) {
        switch response.status {
        case 486, 600, 603: (.refused, DialogNote(.refused, response))
        case 480: (.failed(.invitePeerOffline), DialogNote(.offline, response))
        case 408: (.failed(.inviteTimeout), DialogNote(.timeout, response))
        default: (.failed(.inviteOther), DialogNote(.rejected, response))
        }
    }

    /// The act to report when no response came.
    static func act(for failure: DialogFailure) -> (PhoneAct, DialogNote) {
        switch failure {
        case .timedOut: (.failed(.inviteTimeout), DialogNote(.timeout))
        case .unreachable: (.failed(.inviteNetwork), DialogNote(.unreachable))
        }
    }

    /// The response to an inbound INVITE when the user could not be invited or did not answer.
    static func reply(for code: SignalingCode?) -> DialogReply {
        code == .inviteTimeout ? .requestTimeout : .unavailable
    }
}
