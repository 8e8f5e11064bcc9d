internal import BusProtocol
internal import SignalingProtocol
internal import SignalingWire

extension SessionEvent {
    /// What a trace says of the event: without tokens, lines, texts and values. Nil for what the gateway has only to do
    /// with itself, and for what the frame says that answers it.
    /// - Parameter address: what the client connects from, for people.
    package func traced(from address: String) -> String? {
        switch self {
        case .call(let request, let bytes, _):
            switch request.call {
            case .success(let call): "call \(request.id): \(call.act.summary), \(bytes) bytes"
            case .failure: "call \(request.id): cannot be read, \(bytes) bytes"
            }
        case .login(let request, let isAllowed): "\(request.traced(from: address))\(isAllowed ? "" : Self.limited)"
        case .lineLogin(_, let isAllowed): "resume from \(address)\(isAllowed ? "" : Self.limited)"
        case .output(let isPaused): isPaused ? "does not read: output waits" : "reads again"
        case .connectionLost: "connection lost"
        case .close(let closing): "connection closed by the gateway: \(closing.traced)"
        case .hookAnswered(_, let verdict): verdict.traced
        case .session(let event): event.traced
        case .mailbox(let event): event.traced
        case .channel(let event): event.traced
        case .ping, .answered, .messageAnswered, .nextTurn: nil
        }
    }

    private static let limited = "; too many logins from its address have failed"
}

extension SessionAction.Closing {
    fileprivate var traced: String {
        switch self {
        case .normal: "the conversation is over"
        case .goingAway: "it may resume"
        case .tooMuch: "it exceeds what it may do"
        case .banned: "its address is banned"
        case .restart: "the gateway stops, it may resume at another one"
        }
    }
}

extension LoginRequest {
    fileprivate func traced(from address: String) -> String {
        "login by \(device.isEmpty ? "a client" : device) from \(address), \(push ? "takes" : "polls for") messages"
    }
}

extension HookVerdict {
    fileprivate var traced: String {
        switch self {
        case .allowed: "the app's server allows it"
        case .rewritten: "the app's server allows it, with another text"
        case .refused(let error): "the app's server refuses it: \(error.traced)"
        }
    }
}

extension SessionEvent.Session {
    fileprivate var traced: String? {
        switch self {
        case .appAnswered(.failure(let error), _, _): "the app's settings: \(error.traced)"
        case .superseded(.closeFrame(let code)): "session over: \(code.rawValue)"
        case .superseded(.silent): "session goes on on another connection"
        case .end(let code): "session ended: \(code.rawValue)"
        case .appAnswered(.success, _, _), .limits, .hooks, .app, .opened, .resumed, .ratesTaken, .loggedOut,
            .tokenCheck:
            nil
        }
    }
}

extension SessionEvent.Mailbox {
    fileprivate var traced: String? {
        switch self {
        case .published(let entry, let previous):
            "message \(entry.version) after \(previous), \(entry.line.utf8.count) bytes"
        case .resynchronize: "messages may have been missed: the mailbox is read"
        case .loaded(.success(let page)): "mailbox read: \(page.entries.count) messages"
        case .loaded(.failure(let error)): "mailbox not read: \(error.traced)"
        case .notCleared(let error): "messages not removed: \(error.traced)"
        case .latest, .gapDue, .loadDue, .pollTimerFired: nil
        }
    }
}

extension SessionEvent.Channel {
    fileprivate var traced: String? {
        switch self {
        case .removed(let removal): "removed from \(removal.channel) by the app"
        case .logRead(_, nil, _): "the channel's events could not be read"
        case .subscribed(let key, false, _, _): "the events of \(key.name) are not available"
        case .subscribed, .joined, .left, .published, .logRead, .joinUndone, .membershipTold, .settlementDue: nil
        }
    }
}

extension SignalingError {
    fileprivate var traced: String { "\(code.rawValue) \(reason): \(message)" }
}
