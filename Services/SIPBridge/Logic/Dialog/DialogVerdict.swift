internal import BusProtocol
internal import SignalingProtocol

/// Why a call ended; the raw value is the `reason` in the user's `extra`.
package enum DialogReason: String, Sendable, CaseIterable {
    /// The telephone was busy or declined.
    case refused
    /// A final response of any other kind.
    case rejected
    /// The telephone is not reachable at present (480).
    case offline = "peer_offline"
    /// Nobody answered.
    case timeout
    /// The telephone or its trunk cannot be reached.
    case unreachable
    /// The app has no trunk.
    case noTrunk = "no_trunk"
    /// The trunk's settings cannot be read at present.
    case storeUnavailable = "store_unavailable"
    /// The callee is not a telephone number that can be dialled.
    case invalidNumber = "invalid_number"
    /// The app's users are not allowed to call this number.
    case numberNotAllowed = "number_not_allowed"
    /// The caller is not allowed to show this number.
    case callerNotAllowed = "caller_not_allowed"
    /// A header that the caller requested is not allowed.
    case invalidHeader = "invalid_header"
    /// The telephone answered with media that we do not support.
    case unusableMedia = "unusable_media"
    /// The telephone hung up.
    case hangup
    /// The telephone did not acknowledge our answer.
    case unacknowledged
    /// No media arrived.
    case mediaTimeout = "rtp_timeout"
    /// The session was not refreshed.
    case sessionExpired = "session_expired"
    /// The peer does not know the dialog any more (481, 408).
    case dialogLost = "dialog_lost"
    /// The bridge is stopping.
    case bridgeStopped = "bridge_stopped"
    /// The bridge has lost its lease, so the invitation service has ended the call.
    case bridgeLost = "bridge_lost"
    /// The bridge cannot accept another call.
    case overloaded
}

/// Details of a report: the reason, and the SIP response that caused it, if any.
package struct DialogNote: Equatable, Sendable {
    /// The reason; nil for a step that needs none.
    package var reason: DialogReason?
    /// The status of the response.
    package var status: Int?
    /// The reason phrase of the response.
    package var phrase: String?

    /// Creates a note.
    package init(_ reason: DialogReason? = nil, status: Int? = nil, phrase: String? = nil) {
        self.reason = reason
        self.status = status
        self.phrase = phrase
    }

    /// Creates a note about a response.
    init(_ reason: DialogReason?, _ response: DialogResponse) {
        self.init(reason, status: response.status, phrase: response.phrase)
    }
}

/// The meaning of a final response to INVITE for the caller.
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
