internal import InvitationLogic
internal import SignalingProtocol

/// Which call lies where: the member of a user's index.
struct CallReference: Equatable, Sendable {
    /// The call.
    var call: CallID
    /// Its record's tag.
    var tag: String

    /// `CALLID TAG`; neither holds a space.
    var text: String { "\(call) \(tag)" }

    init(call: CallID, tag: String) {
        self.call = call
        self.tag = tag
    }

    init?(text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 2 else { return nil }
        call = CallID(String(parts[0]))
        tag = String(parts[1])
    }
}

/// A timer as it stands in `due:invitation`: `KIND CALLID TAG`.
struct CallTimerReference: Equatable, Sendable {
    /// The timer.
    var timer: CallTimer
    /// The record's tag of its call.
    var tag: String

    var text: String { "\(timer.kind.rawValue) \(timer.call) \(tag)" }

    init(_ timer: CallTimer, tag: String) {
        self.timer = timer
        self.tag = tag
    }

    init?(text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 3, let kind = CallTimer.Kind(rawValue: String(parts[0])) else { return nil }
        timer = CallTimer(kind, of: CallID(String(parts[1])))
        tag = String(parts[2])
    }
}

/// A deadline of the service, as it stands in `due:invitation`.
enum InvitationTimer: Equatable, Sendable {
    /// A call's.
    case call(CallTimerReference)
    /// A sip-bridge's lease may have ended: `gateway:ID`. Its heartbeat moves this timer on.
    case bridge(GatewayID)

    /// Nil for what no version of this service wrote.
    init?(member: String) {
        if member.hasPrefix(Self.bridgePrefix) {
            self = .bridge(GatewayID(String(member.dropFirst(Self.bridgePrefix.count))))
        } else if let reference = CallTimerReference(text: member) {
            self = .call(reference)
        } else {
            return nil
        }
    }

    var member: String {
        switch self {
        case .call(let reference): reference.text
        case .bridge(let bridge): Self.bridgePrefix + bridge.rawValue
        }
    }

    private static let bridgePrefix = "gateway:"
}
