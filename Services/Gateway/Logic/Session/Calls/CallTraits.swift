package import SignalingProtocol
internal import SignalingWire

/// How a session treats a function of `call2`, whatever its arguments. What kind of function it is, so who does it, its
/// group in ``ClientCall/Act`` says.
struct CallTraits {
    /// Which of the session's rates its calls are counted against.
    enum Rate {
        case userMessages, channelMessages, attributeChanges, acts
        /// Calls are not refused.
        case unlimited
    }

    var rate: Rate
    /// The code that the documents define for a timeout of this function.
    var timeout = SignalingCode.failed
}

extension ClientCall.Act {
    /// How the session treats this function.
    var traits: CallTraits {
        switch self {
        case .session(let act): act.traits
        case .message(let act): act.traits
        case .service(let act): act.traits
        }
    }
}

extension ClientCall.SessionAct {
    fileprivate var traits: CallTraits {
        switch self {
        // A poll is delayed instead, see `SessionRates.pollDelay(now:)`.
        case .pollMailbox: CallTraits(rate: .unlimited)
        // Frees resources.
        case .logOut: CallTraits(rate: .unlimited)
        case .join: CallTraits(rate: .acts)
        case .leave: CallTraits(rate: .acts)
        }
    }
}

extension ClientCall.MessageAct {
    fileprivate var traits: CallTraits {
        switch self {
        case .toUser: CallTraits(rate: .userMessages, timeout: .messageTimeout)
        case .toChannel: CallTraits(rate: .channelMessages, timeout: .messageTimeout)
        }
    }
}

extension ClientCall.ServiceAct {
    /// By kind: what has no line of its own is an act like the others.
    fileprivate var traits: CallTraits {
        switch self {
        case .presence(.setAttribute), .changeAttributes: CallTraits(rate: .attributeChanges)
        case .member(.count): CallTraits(rate: .acts, timeout: .userNumberTimeout)
        case .presence, .member, .call: CallTraits(rate: .acts)
        }
    }

    /// The code that the documents define for a timeout of this function.
    package var timeoutCode: SignalingCode { traits.timeout }
}
