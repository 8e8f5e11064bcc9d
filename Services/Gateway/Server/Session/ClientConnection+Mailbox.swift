internal import CoreMetrics
internal import DequeModule
internal import GatewayLogic
internal import Logging
internal import MessageStore
internal import NIOCore
internal import SignalingProtocol
internal import SignalingWire

/// The session's mailbox: performs what ``MailboxStateMachine`` decides.
extension ClientConnection {
    func startMailbox(_ session: ConnectionStateMachine.Session, fresh: Bool, on shard: isolated GatewayShard) {
        var machine = MailboxStateMachine(takesPushes: session.push)
        let actions = machine.start(fresh: fresh)
        mailbox = consume machine
        perform(actions, on: shard)
    }

    func mailArrived(_ delivery: MailDelivery, on shard: isolated GatewayShard) {
        // Published before the login answer was written: the first read finds it.
        guard mailbox != nil else { return }
        perform(mailbox?.pushed(delivery.entry, after: delivery.previous, now: shard.redisNow) ?? [], on: shard)
    }

    /// Reads what was added to the mailbox, as publications may have been lost.
    func resynchronizeMailbox(on shard: isolated GatewayShard) { perform(mailbox?.resynchronize() ?? [], on: shard) }

    /// Redis says which version it gave last: reads what was missed, if that is another than is known here.
    func mailboxIs(at version: Int64, on shard: isolated GatewayShard) {
        guard let latest = mailbox?.latest, latest != version else { return }
        resynchronizeMailbox(on: shard)
    }

    /// Answers a poll, when the session may have it.
    func poll(_ turn: CallTurn, verClear: Int64, limit: Int, on shard: isolated GatewayShard) {
        waitingPoll = turn
        let delay = rates.pollDelay(now: Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000))
        guard delay > 0 else { return askMailbox(verClear: verClear, limit: limit, on: shard) }
        GatewayMetrics.pollsDelayed.increment()
        pollTimeout = shard.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(delay)) { [self] in
            pollTimeout = nil
            askMailbox(verClear: verClear, limit: limit, on: shard)
        }
    }

    private func askMailbox(verClear: Int64, limit: Int, on shard: isolated GatewayShard) {
        perform(mailbox?.poll(verClear: verClear, limit: limit, now: shard.redisNow) ?? [], on: shard)
        guard waitingPoll != nil else { return }
        // Redis is away. Old clients would take no news for a failure and never poll again; a notify follows.
        pollTimeout = shard.eventLoop.assumeIsolated().scheduleTask(in: timeLeft) { [self] in
            GatewayMetrics.overdue.increment()
            answerPoll(.success(.mailbox(cleared: verClear, entries: [])), on: shard)
        }
    }

    private func answerPoll(_ result: Result<ReplyBody, SignalingError>, on shard: isolated GatewayShard) {
        guard let turn = waitingPoll else { return }
        forgetPoll()
        answer(turn, result, on: shard)
    }

    /// Nobody waits for a poll's answer.
    func forgetPoll() {
        waitingPoll = nil
        pollTimeout?.cancel()
        pollTimeout = nil
    }

    /// Goes on with what waited for the client to take what it was sent.
    func sendUnsent(on shard: isolated GatewayShard) {
        continueReplay(on: shard)
        while !outlet.output.isPaused, let entry = unsentPushes.popFirst() {
            send(ServerFrame.pushMessage(entry), on: shard)
        }
    }

    private func perform(_ actions: [MailboxStateMachine.Action], on shard: isolated GatewayShard) {
        guard !actions.isEmpty, let session = active else { return }
        for action in actions {
            switch action {
            case .load(let after, let fresh):
                load(session, after: after, fresh: fresh, on: shard)
            case .answer(let cleared, let entries):
                if waitingPoll == nil, let last = entries.last {
                    // Its time was over: the client must ask again.
                    send(ServerFrame.notifyMessage(version: last.version), on: shard)
                }
                answerPoll(.success(.mailbox(cleared: cleared, entries: entries)), on: shard)
            case .notify(let version):
                send(ServerFrame.notifyMessage(version: version), on: shard)
            case .push(let entry):
                if outlet.output.isPaused || !unsentPushes.isEmpty {
                    unsentPushes.append(entry)
                } else {
                    send(ServerFrame.pushMessage(entry), on: shard)
                }
            case .clear(let through):
                clear(session, through: through, on: shard)
            case .fellBack:
                GatewayMetrics.mailboxResets.increment()
                shard.logger.warning("Redis came back without messages that it had told of")
            }
        }
    }

    private func clear(_ session: ActiveSession, through version: Int64, on shard: isolated GatewayShard) {
        shard.mailboxes.clear(session.user, in: session.actor.session, through: version) { [self] result in
            // Entries that were not forgotten come again at the next login: at least once.
            guard case .failure(let error) = result else { return }
            noteRefusal(error, on: shard)
            shard.logger.warning("mailbox not cleared", metadata: ["error": "\(error)"])
        }
    }

    private func load(_ session: ActiveSession, after: Int64, fresh: Bool, on shard: isolated GatewayShard) {
        shard.messages.readMailbox(
            session.user, in: fence(session), after: after, limit: MailboxStateMachine.windowBound, fresh: fresh
        ) { [self] result in
            switch result {
            case .success(let page):
                perform(mailbox?.loaded(page) ?? [], on: shard)
            case .failure(let error):
                noteRefusal(error, on: shard)
                loadAgain(on: shard)
            }
        }
    }

    private func loadAgain(on shard: isolated GatewayShard) {
        shard.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(.random(in: 200...1000))) { [self] in
            perform(mailbox?.loadFailed() ?? [], on: shard)
        }
    }

    /// What acts in the session's name are checked against.
    func fence(_ session: ActiveSession) -> SessionFence {
        SessionFence(session: session.actor.session, gateway: shard.id)
    }

    /// Counts what was refused for want of room, and asks presence soon whose the session is when another seems to have it.
    func noteRefusal(_ error: SignalingError, on shard: isolated GatewayShard) {
        switch error.reason {
        case "session_over": if let session { shard.ask(about: session.actor.session) }
        case "mailbox_full": GatewayMetrics.mailboxesFull.increment()
        case "memory_full": GatewayMetrics.memoryFull.increment()
        default: break
        }
    }
}
