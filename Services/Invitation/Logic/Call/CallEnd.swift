package import SignalingProtocol

/// How a call came to its end.
package enum CallEnd: String, Sendable, CaseIterable {
    /// The callee refused.
    case refused
    /// The caller ended it.
    case endedByCaller = "ended_by_caller"
    /// The callee ended it.
    case endedByCallee = "ended_by_callee"
    /// The callee's mailbox is full.
    case undeliverable
    /// The callee was offline all the time.
    case calleeOffline = "callee_offline"
    /// The callee was online, but its client did not acknowledge in time; or a telephone did not ring in time.
    case notAcknowledged = "not_acknowledged"
    /// It rang up to the limit.
    case notAnswered = "not_answered"
    /// A call with a telephone went on up to the limit.
    case tooLong = "too_long"
    /// Nobody knows the call any more: Redis came back without it.
    case lost
    /// The caller's session ended.
    case callerGone = "caller_gone"
    /// The callee's session ended.
    case calleeGone = "callee_gone"
    /// The app has no trunk to call telephones through.
    case noTrunk = "no_trunk"
    /// No sip-bridge took the call upon itself.
    case noBridge = "no_bridge"
    /// The sip-bridge that held the telephone is lost.
    case bridgeLost = "bridge_lost"
    /// The telephone's side cannot be called, such as a wrong number.
    case phoneFailed = "phone_failed"
    /// The network between bridge and telephone failed.
    case phoneNetwork = "phone_network"
    /// The telephone is not there at present.
    case phoneAbsent = "phone_absent"
    /// The telephone's side gave no answer.
    case phoneTimeout = "phone_timeout"

    /// The end that a sip-bridge reports by a code, of an invitation that came to nothing or of a call that broke off.
    init(phone code: SignalingCode) {
        let named: [SignalingCode: CallEnd] = [
            .inviteNetwork: .phoneNetwork, .invitePeerOffline: .phoneAbsent, .inviteTimeout: .phoneTimeout,
        ]
        self = named[code] ?? .phoneFailed
    }

    /// The public code of such an end.
    package var code: SignalingCode {
        switch self {
        case .endedByCaller, .endedByCallee: .success
        case .refused, .undeliverable, .noTrunk, .phoneFailed: .inviteOther
        case .noBridge, .bridgeLost, .phoneNetwork, .lost: .inviteNetwork
        case .calleeOffline, .callerGone, .calleeGone, .phoneAbsent: .invitePeerOffline
        case .notAcknowledged, .notAnswered, .phoneTimeout, .tooLong: .inviteTimeout
        }
    }

    /// The `extra` of an event that the system itself sends about such an end: JSON text.
    package var extra: String {
        let reason =
            switch self {
            case .endedByCaller, .endedByCallee: "ended"
            case .refused: "refused"
            case .undeliverable: "undeliverable"
            case .calleeOffline, .callerGone, .calleeGone, .phoneAbsent: "peer_offline"
            case .notAcknowledged, .notAnswered, .phoneTimeout: "timeout"
            case .tooLong: "too_long"
            case .lost: "lost"
            case .noTrunk: "no_trunk"
            case .noBridge: "no_bridge"
            case .bridgeLost: "bridge_lost"
            case .phoneFailed: "rejected"
            case .phoneNetwork: "network"
            }
        return "{\"code\":\(code.rawValue),\"reason\":\"\(reason)\"}"
    }
}
