package import SignalingProtocol

/// A call's timer as a member of the sorted set `due:invitation`: `KIND CALLID TAG`.
package struct CallTimerReference: Equatable, Sendable {
    /// The timer.
    package var timer: CallTimer
    /// The hash tag of the call's record.
    package var tag: String

    /// Creates a reference.
    package init(_ timer: CallTimer, tag: String) {
        self.timer = timer
        self.tag = tag
    }

    init?(text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 3, let kind = CallTimer.Kind(rawValue: String(parts[0])) else { return nil }
        timer = CallTimer(kind, of: CallID(String(parts[1])))
        tag = String(parts[2])
    }

    var text: String { "\(timer.kind.rawValue) \(timer.call) \(tag)" }
}

/// A timer of the invitation service, a member of the sorted set `due:invitation`.
package enum InvitationTimer: Equatable, Sendable {
    /// A timer of a call.
    case call(CallTimerReference)
    /// Fires when a sip-bridge's lease may have ended: `gateway:ID`. The bridge's heartbeats postpone it.
    case bridge(BridgeID)

    /// Parses a member of the set; nil for text that no version of this service has written.
    package init?(member: String) {
        if member.hasPrefix(Self.bridgePrefix) {
            self = .bridge(BridgeID(String(member.dropFirst(Self.bridgePrefix.count))))
        } else if let reference = CallTimerReference(text: member) {
            self = .call(reference)
        } else {
            return nil
        }
    }

    /// The timer as a member of the set.
    package var member: String {
        switch self {
        case .call(let reference): reference.text
        case .bridge(let bridge): Self.bridgePrefix + bridge.rawValue
        }
    }

    private static let bridgePrefix = "gateway:"
}
