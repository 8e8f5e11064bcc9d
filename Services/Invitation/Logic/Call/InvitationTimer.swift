package import SignalingProtocol

/// A call's timer, and where the call's record is.
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
}

/// A timer of the invitation service, a member of the sorted set `due:invitation`.
package enum InvitationTimer: Equatable, Sendable {
    /// A timer of a call.
    case call(CallTimerReference)
    /// Fires when a sip-bridge's lease may have ended. The bridge's heartbeats postpone it.
    case bridge(BridgeID)

    /// Reads the timer's words; nil for words that no version of this service has written.
    package init?(words: [String]) {
        if words.count == 2, words[0] == "bridge" {
            self = .bridge(BridgeID(words[1]))
        } else if words.count == 3, let kind = CallTimer.Kind(rawValue: words[0]) {
            self = .call(CallTimerReference(CallTimer(kind, of: CallID(words[1])), tag: words[2]))
        } else {
            return nil
        }
    }

    /// What it is about.
    package var subject: Subject {
        switch self {
        case .call(let reference): .tagged(reference.tag)
        case .bridge(let bridge): .bridge(bridge)
        }
    }

    /// The timer's kind and what it is about, for the set of timers.
    package var words: [String] {
        switch self {
        case .call(let reference): [reference.timer.kind.rawValue, reference.timer.call.rawValue, reference.tag]
        // The bridge's heartbeats set this timer too, see `LeaseFleet`.
        case .bridge(let bridge): ["bridge", bridge.rawValue]
        }
    }
}
