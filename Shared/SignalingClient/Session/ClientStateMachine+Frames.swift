internal import SignalingProtocol
internal import SignalingWire

/// What gateways send.
extension ClientStateMachine {
    /// A line that is not known within this time was lost by the cluster: sessions outlive a lost connection for longer.
    private static let shortestTimeout: Int64 = 1000 * Int64(Limits.connectionTimeout.lowerBound)

    mutating func received(_ message: ServerMessage, attempt: Int, now: Int64) -> [Action] {
        guard attempt == self.attempt else { return [] }
        switch message {
        case .pong:
            unanswered = 0
            return []
        case .unknown: return []
        case .loginAnswer(let answer): return loginAnswered(answer, now: now)
        case .resumeAnswer(let answer): return resumed(answer, now: now)
        case .callAnswer(let id, let answer): return callAnswered(id, answer, now: now)
        case .close(let word): return closedByGateway(word, now: now)
        case .mailboxNotice(let version):
            guard version > mailbox.processed, poll == nil else { return [] }
            return pollMailbox()
        case .mailboxEntry(let version, let line): return mailArrived(version, line, now: now)
        case .channelEvent(let id, let line): return channelEventArrived(id, line)
        }
    }

    // MARK: - Login and resume

    private mutating func loginAnswered(
        _ answer: Result<ServerMessage.SessionAnswer, SignalingError>, now: Int64
    ) -> [Action] {
        guard case .authenticating = state, session == nil else { return [] }
        switch answer {
        case .success(let opened):
            session = Session(line: opened.line, uid: opened.uid, push: opened.push)
            goOnline(now: now)
            let events = isReplacing ? replaced(now: now) : [.event(.loggedIn(uid: opened.uid))]
            let first = opened.push ? [] : pollMailbox()
            return events + first + flush(now: now)
        case .failure(let error) where error.code == .failed:
            // The cluster is not itself: that may pass.
            lastRefusal = error
            return attemptFailed(now: now)
        case .failure(let error) where isReplacing:
            let code: SignalingCode = error.code == .loginTokenExpired ? .logoutTokenExpired : .logoutNetwork
            return end(SignalingError(code, error.reason, error.message))
        case .failure(let error):
            return end(error)
        }
    }

    /// A new session has taken the place of the lost one: what came meanwhile is gone, and so is the channel.
    private mutating func replaced(now: Int64) -> [Action] {
        isReplacing = false
        calls.connectionRestored(now: now)
        var actions = [Action.event(.reconnected(complete: false))]
        if let channel {
            self.channel = nil
            channelMark = nil
            actions.append(.event(.channelLeft(channel: channel, code: .leaveDisconnected)))
        }
        return actions
    }

    private mutating func resumed(_ answer: ServerMessage.SessionAnswer, now: Int64) -> [Action] {
        guard case .authenticating = state, session != nil else { return [] }
        session = Session(line: answer.line, uid: answer.uid, push: answer.push)
        goOnline(now: now)
        calls.connectionRestored(now: now)
        var complete = true
        var actions: [Action] = []
        if let channel {
            if let there = answer.channel, Self.canonical(there) == Self.canonical(channel) {
                complete = answer.complete && channelMark != nil
            } else if answer.channel == nil {
                self.channel = nil
                channelMark = nil
                actions.append(.event(.channelLeft(channel: channel, code: .leaveDisconnected)))
            }
        }
        let first = answer.push ? [] : pollMailbox()
        return [.event(.reconnected(complete: complete))] + actions + first + flush(now: now)
    }

    private mutating func goOnline(now: Int64) {
        state = .online
        attempts = Attempts(since: now)
        lastRefusal = nil
        unanswered = 0
        nextPing = now + configuration.timing.pingInterval.milliseconds
    }

    /// The session is over. Source: wire protocol, section 3.
    private mutating func closedByGateway(_ word: String, now: Int64) -> [Action] {
        if case .loggingOut = state { return end(Self.loggedOutByUser) }
        let code = Int(word).flatMap(SignalingCode.init(rawValue:))
        guard session != nil else {
            return end(SignalingError(word == "kick" ? .loginKicked : code ?? .loginOther, word, "refused: \(word)"))
        }
        if code == .failed, case .authenticating = state { return attemptFailed(now: now) }
        if code == .logoutNetwork { return logInAgain(now: now) }
        switch word {
        case "kick": return end(SignalingError(.logoutKicked, word, "logged in elsewhere"))
        case "token_expired": return end(SignalingError(.logoutTokenExpired, word, "the token has expired"))
        case "bad_line":
            if now - attempts.since < Self.shortestTimeout { return logInAgain(now: now) }
            return end(SignalingError(.logoutNetwork, word, "the session did not outlive the lost connection"))
        default: return end(SignalingError(code ?? .logoutOther, word, "closed by the gateway"))
        }
    }

    // MARK: - The mailbox

    private mutating func mailArrived(_ version: Int64, _ line: String, now: Int64) -> [Action] {
        let wait = configuration.timing.acknowledgeTime.milliseconds
        guard mailbox.take(version, now: now, within: wait) else { return [] }
        return deliver(line, now: now) + acknowledge(now: now, force: false)
    }

    private mutating func deliver(_ line: String, now: Int64) -> [Action] {
        guard let event = MessageText(line)?.mailboxEvent else { return [] }
        var actions = [Action.event(event)]
        if case .call(let call) = event, call.kind == .invited {
            // The SDK tells the caller that the invitation is there, not the app.
            let members = [
                JSONMember("channelName", .string(call.channel)), JSONMember("peer", .string(call.peer)),
                JSONMember("extra", .string("")),
            ]
            actions += self.call("voip_invite_ack", members, now: now).actions
        }
        return actions
    }

    /// Acknowledges what was processed, when it is time.
    mutating func acknowledge(now: Int64, force: Bool) -> [Action] {
        guard case .online = state, mailbox.isPending, poll == nil || force,
            force || mailbox.isDue(now: now, bound: configuration.timing.acknowledgeCount)
        else { return [] }
        return pollMailbox()
    }

    private mutating func pollMailbox() -> [Action] {
        guard let session else { return [] }
        lastCall += 1
        poll = lastCall
        mailbox.acknowledge()
        return [.send(ClientRequest.acknowledge(id: lastCall, line: session.line, through: mailbox.processed))]
    }

    /// Answers of gateways that do not push hold the entries.
    private mutating func pollAnswered(_ answer: Result<JSONValue, SignalingError>, now: Int64) -> [Action] {
        poll = nil
        guard case .success(let json) = answer, case .array(let entries)? = json["msgs"] else { return [] }
        var actions: [Action] = []
        let wait = configuration.timing.acknowledgeTime.milliseconds
        for case .array(let entry) in entries {
            guard entry.count == 2, let version = entry[0].integer, let line = entry[1].string,
                mailbox.take(version, now: now, within: wait)
            else { continue }
            actions += deliver(line, now: now)
        }
        return actions + acknowledge(now: now, force: false)
    }

    // MARK: - Channel events and answers

    private mutating func channelEventArrived(_ id: Int64, _ line: String) -> [Action] {
        guard id > lastEvent else { return [] }
        lastEvent = id
        guard let channel, let event = MessageText(line)?.channelEvent,
            let told = event.spelled(channel, if: Self.canonical(channel))
        else { return [] }
        channelMark = id
        return [.event(told)]
    }

    private mutating func callAnswered(
        _ id: Int64, _ answer: Result<JSONValue, SignalingError>, now: Int64
    ) -> [Action] {
        if id == poll { return pollAnswered(answer, now: now) }
        // Answers to a logout and to calls that timed out find nobody.
        if case .loggingOut(_, id) = state { return end(Self.loggedOutByUser) }
        guard let call = calls.remove(id) else { return [] }
        if case .failure(let error) = answer, call.isUndecided(by: error) {
            let bound = configuration.timing.backOff.milliseconds
            calls.repeatCall(call, at: now + chance(0...bound * Int64(min(call.attempts, 8))))
            return flush(now: now)
        }
        var answer = answer
        if case .failure(let error) = answer, call.isSettled(by: error) {
            answer = .success(.object([JSONMember("result", .string("ok"))]))
        }
        if case .success(let json) = answer { note(call, json) }
        return [.answer(call: id, answer)] + flush(now: now)
    }

    /// Remembers which channel the client is in.
    private mutating func note(_ call: CallTable.Call, _ json: JSONValue) {
        switch call.function {
        case "channel_join":
            let name = call.arguments.last { $0.name == "name" }?.value.string
            if name.map(Self.canonical) != channel.map(Self.canonical) { channelMark = nil }
            channel = name
            // A gateway that tells the event before the join makes the gap after it fillable.
            channelMark = channelMark ?? json["id"]?.integer
        case "channel_leave":
            channel = nil
            channelMark = nil
        default: break
        }
    }

    /// The one spelling of a special channel.
    static func canonical(_ channel: String) -> String { (try? ChannelName(channel))?.rawValue ?? channel }
}

extension SignalingEvent {
    /// The event as the app spells its channel; nil when it is of another one.
    fileprivate func spelled(_ spelling: String, if canonical: String) -> SignalingEvent? {
        switch self {
        case .channelMessage(canonical, let account, let uid, let text):
            .channelMessage(channel: spelling, account: account, uid: uid, text: text)
        case .memberJoined(canonical, let account, let uid):
            .memberJoined(channel: spelling, account: account, uid: uid)
        case .memberLeft(canonical, let account, let uid): .memberLeft(channel: spelling, account: account, uid: uid)
        case .channelAttribute(canonical, let account, let uid, let change):
            .channelAttribute(channel: spelling, account: account, uid: uid, change: change)
        case .channelMessage, .memberJoined, .memberLeft, .channelAttribute, .loggedIn, .loginFailed, .reconnecting,
            .reconnected, .loggedOut, .message, .channelLeft, .call:
            nil
        }
    }
}
