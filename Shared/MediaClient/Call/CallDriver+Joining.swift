internal import MediaEngineLogic
internal import SignalingProtocol
internal import SignalingWire

/// Joining, coming back, and what the gateway says.
extension CallDriver {
    func perform(_ actions: [EngineReconnect<MediaNodeID>.Action]) {
        for action in actions {
            switch action {
            case .join, .restart:
                if phase != .awaitingKey { ask(action) }
            case .tell(let notice): tellOfPath(notice)
            }
        }
    }

    func handle(_ notice: ControlConnection.Notice) {
        switch notice {
        case .online:
            if let wanted { ask(wanted) } else { askRoster() }
        case .noGateway: tell(.warning(.noGateway))
        case .refused(let error): end(error)
        case .channel(let notice):
            if notice.participant == participation?.subject.participant { handle(notice) }
        }
    }

    /// Asks for a path, now or as soon as there is a gateway.
    private func ask(_ action: EngineReconnect<MediaNodeID>.Action) {
        guard isOnline else {
            wanted = action
            return
        }
        wanted = nil
        switch action {
        case .join(let avoid): join(avoid: avoid)
        case .restart(let avoid): if let participation { restart(participation) } else { join(avoid: avoid) }
        case .tell: break
        }
    }

    private func join(avoid: [MediaNodeID]) {
        let pair = EngineKeyPair()
        let flags = flags
        attempt += 1
        let call = ControlCall.join(
            configuration, uid: participation?.uid ?? configuration.uid, flags: flags,
            publicKey: pair.publicKey, avoid: avoid)
        self.call(call) { [self, attempt] result in
            guard attempt == self.attempt, isTrying else { return }
            do throws(MediaError) {
                let answer = try JoinAnswer(try result.get())
                try take(answer, pair, told: flags)
            } catch {
                refused(error)
            }
        }
    }

    /// Whether an answer to a join still serves.
    private var isTrying: Bool { phase == .joining || phase == .joined }

    private func take(_ answer: JoinAnswer, _ pair: EngineKeyPair, told: MediaFlags) throws(MediaError) {
        let subject = ControlCall.Subject(
            channel: configuration.channel, participant: answer.participant, secret: answer.secret)
        try open(answer.transport, pair, of: subject)
        let isOtherNode = participation.map { $0.node != answer.node } ?? false
        participation = Participation(subject: subject, uid: answer.uid, node: answer.node, told: told)
        reconnect.answered(by: answer.node)
        guard roster != nil else {
            roster = Roster(answer.roster, own: answer.uid)
            return
        }
        follow(roster?.replace(with: answer.roster, isOtherNode: isOtherNode) ?? [])
    }

    private func restart(_ participation: Participation) {
        let pair = EngineKeyPair()
        attempt += 1
        call(.restart(participation.subject, publicKey: pair.publicKey)) { [self, attempt] result in
            guard attempt == self.attempt, isTrying else { return }
            do throws(MediaError) {
                try open(try TransportAnswer(try result.get()), pair, of: participation.subject)
                reconnect.answered(by: participation.node)
                // Events may have been missed with the connection before.
                askRoster()
            } catch {
                // The node does not know this client any more: only another join can help.
                if error.reason == MediaRefusal.unknownParticipant.rawValue { return join(avoid: []) }
                // It may be dead: a join finds another one, or this client where it was.
                if error.reason == MediaRefusal.nodeUnreachable.rawValue {
                    perform(reconnect.participantGone(now: .now))
                }
                refused(error)
            }
        }
    }

    private func refused(_ error: MediaError) {
        guard error.isFinal else {
            tell(.warning(error))
            return reconnect.attemptFailed(now: .now, chance: Double.random(in: 0..<1))
        }
        guard phase == .joined, error.isAboutKey else { return end(error) }
        phase = .awaitingKey
        tell(error.reason == MediaRefusal.keyExpired.rawValue ? .keyExpired : .keyRefused(error))
    }

    /// Goes on over another path; that of before is closed.
    private func open(
        _ transport: TransportAnswer, _ pair: EngineKeyPair, of subject: ControlCall.Subject
    ) throws(MediaError) {
        let keys: EngineKeys
        do {
            keys = try pair.agree(publicKey: transport.publicKey, participant: subject.participant)
        } catch {
            throw .badAnswer
        }
        try audio?.incoming.setSlots(transport.slots)
        closePath()
        path = MediaPath(transport, keys: keys, name: configuration.callID, eventLoop: eventLoop) { [weak self] in
            self?.receive($0)
        }
        pathSince = .now
        count(sent: path?.advance(now: .now) ?? 0)
    }

    /// Ends the path, and forgets who spoke on it: its numbers say nothing about those of another one.
    private func closePath() {
        path?.close()
        path = nil
        slotSpeakers = [:]
    }

    // MARK: - The roster

    /// Asks for the whole roster, once at a time: after a gap, and after another connection, which this also binds.
    func askRoster() {
        guard let participation, !isAskingRoster, isTrying else { return }
        isAskingRoster = true
        call(.resume(participation.subject, n: roster?.n ?? 0)) { [self] result in
            isAskingRoster = false
            guard isTrying else { return }
            switch result {
            case .success(let json):
                guard let copy = try? RosterCopy(json) else { return }
                follow(roster?.replace(with: copy, isOtherNode: false) ?? [])
                // Something was told meanwhile of which the copy does not know yet.
                if roster?.isBehind == true { askRoster() }
            case .failure(let error):
                guard error.reason == MediaRefusal.unknownParticipant.rawValue else { return }
                perform(reconnect.participantGone(now: .now))
            }
        }
    }

    private func handle(_ notice: ChannelNotice) {
        switch notice {
        case .member(let member, let n, _): follow(roster?.changed(member, n: n))
        case .left(let uid, let reason, let n, _): follow(roster?.left(uid: uid, reason, n: n))
        case .uplinks(let all, let n, _):
            uplinks = Dictionary(all.map { ($0.uid, $0) }, uniquingKeysWith: { $1 })
            if let n { follow(roster?.stands(at: n)) }
        case .keyEnded: tell(.keyExpired)
        case .gone(let reason, _): gone(reason)
        }
    }

    private func gone(_ reason: String) {
        guard isTrying else { return }
        switch MediaEndReason(rawValue: reason) {
        case .replaced: end(.replaced)
        case .limit: end(.limited)
        case .key:
            // The others have been told that this client has dropped.
            phase = .awaitingKey
            closePath()
        case .closed, nil: perform(reconnect.participantGone(now: .now))
        }
    }

    func follow(_ outcome: Roster.Outcome?) {
        switch outcome {
        case .events(let events): follow(events)
        case .gap(let events):
            follow(events)
            askRoster()
        case .old, nil: break
        }
    }

    /// Tells the app of changes, once it knows that it is in.
    private func follow(_ events: [MediaEvent]) {
        guard phase == .joined else { return }
        for event in events {
            note(event)
            tell(event)
        }
    }

    private func note(_ event: MediaEvent) {
        switch event {
        case .userJoined(let user):
            statistics?.userJoined(user.uid, at: .now)
            statistics?.setMuted(user.isAudioMuted, uid: user.uid, at: .now)
        case .userLeft(let uid, _): statistics?.userLeft(uid)
        case .audioMuted(let uid, let isMuted): statistics?.setMuted(isMuted, uid: uid, at: .now)
        case .joined, .videoMuted, .videoEnabled, .volumes, .statistics, .interrupted, .lost, .rejoined, .warning,
            .keyExpired,
            .keyRenewed, .keyRefused, .deviceFailed, .ended:
            break
        }
    }

    // MARK: - What the app is told of the path

    private func tellOfPath(_ notice: EngineReconnect<MediaNodeID>.Notice) {
        switch notice {
        case .joined:
            guard phase == .joining, let participation else { return }
            phase = .joined
            statistics = CallStatistics(joined: .now)
            tell(.joined(uid: participation.uid))
            follow(roster?.arrivals ?? [])
        case .interrupted:
            tell(.interrupted)
            tell(.warning(.noPath))
        case .lost: tell(.lost)
        case .rejoined: if let participation { tell(.rejoined(uid: participation.uid)) }
        case .failed: end(.startFailed)
        }
    }
}
