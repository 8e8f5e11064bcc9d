package import SignalingProtocol
internal import SignalingWire

/// How a call ended.
package enum CallEnd: String, Sendable, CaseIterable {
    /// The callee refused.
    case refused
    /// The caller ended the call.
    case endedByCaller = "ended_by_caller"
    /// The callee ended the call.
    case endedByCallee = "ended_by_callee"
    /// The callee's mailbox is full.
    case undeliverable
    /// The callee was offline during the whole time.
    case calleeOffline = "callee_offline"
    /// The callee was online, but its client did not acknowledge in time; or a telephone did not ring in time.
    case notAcknowledged = "not_acknowledged"
    /// Nobody answered within the time of ringing.
    case notAnswered = "not_answered"
    /// A call with a telephone reached the longest duration.
    case tooLong = "too_long"
    /// The call's record is lost: Redis returned without it.
    case lost
    /// The caller's session ended.
    case callerGone = "caller_gone"
    /// The callee's session ended.
    case calleeGone = "callee_gone"
    /// The app has no trunk.
    case noTrunk = "no_trunk"
    /// No sip-bridge claimed the call.
    case noBridge = "no_bridge"
    /// The sip-bridge that held the telephone was lost.
    case bridgeLost = "bridge_lost"
    /// The telephone could not be called, for example because of a wrong number.
    case phoneFailed = "phone_failed"
    /// The network between bridge and telephone failed.
    case phoneNetwork = "phone_network"
    /// The telephone is not reachable at present.
    case phoneAbsent = "phone_absent"
    /// The telephone did not answer in time.
    case phoneTimeout = "phone_timeout"

    /// The end for a code from a sip-bridge, of an invitation that failed or a call that was cut off.
    init(phone code: SignalingCode) {
        let named: [SignalingCode: CallEnd] = [
            .inviteNetwork: .phoneNetwork, .invitePeerOffline: .phoneAbsent, .inviteTimeout: .phoneTimeout,
        ]
        self = named[code] ?? .phoneFailed
    }

    /// The public code of the end.
    package var code: SignalingCode {
        switch self {
        case .endedByCaller, .endedByCallee: .success
        case .refused, .undeliverable, .noTrunk, .phoneFailed: .inviteOther
        case .noBridge, .bridgeLost, .phoneNetwork, .lost: .inviteNetwork
        case .calleeOffline, .callerGone, .calleeGone, .phoneAbsent: .invitePeerOffline
        case .notAcknowledged, .notAnswered, .phoneTimeout, .tooLong: .inviteTimeout
        }
    }

    /// The `extra` (JSON text) of the event by which the system announces the end.
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
        return JSONValue.object([
            JSONMember("code", code.rawValue), JSONMember("reason", reason),
        ]).compactText
    }
}
