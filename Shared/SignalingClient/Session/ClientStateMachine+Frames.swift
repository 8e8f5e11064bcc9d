internal import SignalingProtocol
internal import SignalingWire

/// What gateways send: answers to calls, mailbox entries, channel events.
extension ClientStateMachine {
    mutating func received(_ message: ServerMessage, now: Int64) -> [Action] {
        switch message {
        case .pong:
            heartbeat.ponged()
            return []
        case .unknown: return []
        case .loginAnswer(let answer): return loginAnswered(answer, now: now)
        case .resumeAnswer(let answer): return resumed(answer, now: now)
        case .callAnswer(let id, let answer): return callAnswered(id, answer, now: now)
        case .close(let word): return closedByGateway(word, now: now)
        case .mailboxNotice(let version):
            guard version > mailbox.processed, mailbox.outstandingPoll == nil else { return [] }
            return pollMailbox()
        case .mailboxEntry(let version, let line):
            return mailArrived(version, line, now: now).map { $0 + acknowledge(now: now) } ?? []
        case .channelEvent(let id, let line):
            return membership.take(id, line, of: configuration.account).map { [.event($0)] } ?? []
        }
    }

    // MARK: - The mailbox

    /// - Returns: nil for an entry that was delivered before.
    private mutating func mailArrived(_ version: Int64, _ line: String, now: Int64) -> [Action]? {
        let wait = configuration.timing.acknowledgeTime.milliseconds
        guard mailbox.take(version, now: now, within: wait) else { return nil }
        // Entry types that this version does not know are ignored.
        guard let event = MessageText(line)?.mailboxEvent else { return [] }
        guard case .call(let call) = event, call.kind == .invited else { return [.event(event)] }
        // The client informs the caller that the invitation has arrived; the app need not.
        let arguments = SignalingClient.callArguments(channel: call.channel, peer: call.peer, extra: "")
        return [.event(event)] + self.call("voip_invite_ack", arguments, ticket: nil, now: now)
    }

    /// Acknowledges processed entries, if it is time.
    mutating func acknowledge(now: Int64) -> [Action] {
        guard case .online = state, mailbox.isDue(now: now, bound: configuration.timing.acknowledgeCount) else {
            return []
        }
        return pollMailbox()
    }

    /// Sends `user_getmsg`, which acknowledges processed entries and requests the following ones.
    mutating func pollMailbox() -> [Action] {
        guard let session = sessionState.session else { return [] }
        let id = calls.nextID()
        mailbox.polled(id)
        return [.send(ClientRequest.acknowledge(id: id, line: session.line, through: mailbox.processed))]
    }

    /// Takes the answer to a poll. Gateways that do not push put the entries into it.
    private mutating func pollAnswered(_ answer: Result<JSONValue, SignalingError>, now: Int64) -> [Action] {
        mailbox.pollAnswered()
        guard case .success(let json) = answer, case .array(let entries)? = json["msgs"] else { return [] }
        var actions: [Action] = []
        for case .array(let entry) in entries {
            guard entry.count == 2, let version = entry[0].integer, let line = entry[1].string else { continue }
            actions += mailArrived(version, line, now: now) ?? []
        }
        return actions + acknowledge(now: now)
    }

    // MARK: - Answers

    private mutating func callAnswered(
        _ id: Int64, _ answer: Result<JSONValue, SignalingError>, now: Int64
    ) -> [Action] {
        if id == mailbox.outstandingPoll { return pollAnswered(answer, now: now) }
        if case .loggingOut(_, id) = state { return end(Self.loggedOutByUser) }
        // Calls that were cancelled or timed out have been answered already.
        guard let call = calls.remove(id) else { return [] }
        if case .failure(let error) = answer, call.isUndecided(by: error) {
            let bound = configuration.timing.backOff.milliseconds
            calls.repeatCall(call, at: now + chance(0...bound * Int64(min(call.attempts, 8))))
            return sendCalls(now: now)
        }
        var answer = answer
        if case .failure(let error) = answer, call.isSettled(by: error) {
            answer = .success(.object([JSONMember("result", "ok")]))
        }
        if case .success(let json) = answer { noteMembership(call, json) }
        return (call.answered(answer).map { [$0] } ?? []) + sendCalls(now: now)
    }

    /// Updates the membership after a successful join or leave.
    private mutating func noteMembership(_ call: CallTable.Call, _ json: JSONValue) {
        switch call.function {
        case "channel_join":
            membership.joined(call.arguments.last { $0.name == "name" }?.value.string, event: json["id"]?.integer)
        case "channel_leave": membership.left()
        default: break
        }
    }
}
