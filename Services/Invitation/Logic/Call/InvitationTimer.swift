package import SignalingProtocol

/// A deadline of a call as it stands in `due:invitation`: `KIND CALLID TAG`.
package struct CallTimerReference: Equatable, Sendable {
    /// The deadline.
    package var timer: CallTimer
    /// The hash tag of its call's record.
    package var tag: String

    /// Joins the two.
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

/// A deadline of the invitation service, as it stands in `due:invitation`.
package enum InvitationTimer: Equatable, Sendable {
    /// A call's.
    case call(CallTimerReference)
    /// A sip-bridge's lease may have ended: `gateway:ID`. Its heartbeat moves this timer on.
    case bridge(BridgeID)

    /// Reads a member of the set; nil for what no version of this service wrote.
    package init?(member: String) {
        if member.hasPrefix(Self.bridgePrefix) {
            self = .bridge(BridgeID(String(member.dropFirst(Self.bridgePrefix.count))))
        } else if let reference = CallTimerReference(text: member) {
            self = .call(reference)
        } else {
            return nil
        }
    }

    /// The member of the set.
    package var member: String {
        switch self {
        case .call(let reference): reference.text
        case .bridge(let bridge): Self.bridgePrefix + bridge.rawValue
        }
    }

    private static let bridgePrefix = "gateway:"
}
