internal import GatewayLogic
internal import Logging
internal import MessageStore
internal import NIOCore
internal import SignalingProtocol
internal import SignalingWire

/// The session's mailbox: performs what ``MailboxStateMachine`` decides.
extension ClientConnection {
    func startMailbox(_ session: ConnectionStateMachine.Session, fresh: Bool) {
        var machine = MailboxStateMachine(takesPushes: session.push)
        let actions = machine.start(fresh: fresh)
        mailbox = consume machine
        perform(actions)
    }

    func mailArrived(_ entry: MailboxEntry) {
        // Published before the login answer was written: the first read finds it.
        guard mailbox != nil else { return }
        perform(mailbox?.pushed(entry, now: WallClock.milliseconds) ?? [])
    }

    func resynchronizeMailbox() { perform(mailbox?.resynchronize() ?? []) }

    func poll(verClear: Int64, limit: Int) {
        perform(mailbox?.poll(verClear: verClear, limit: limit, now: WallClock.milliseconds) ?? [])
    }

    private func perform(_ actions: [MailboxStateMachine.Action]) {
        guard !actions.isEmpty, let session = active else { return }
        for action in actions {
            switch action {
            case .load(let after, let fresh):
                load(session.user, after: after, fresh: fresh)
            case .answer(let cleared, let entries):
                let finish = waitingPoll
                waitingPoll = nil
                finish?(.success(.mailbox(cleared: cleared, entries: entries)))
            case .notify(let version):
                send(ServerFrame.notifyMessage(version: version))
            case .push(let entry):
                send(ServerFrame.pushMessage(entry))
            case .clear(let through):
                shard.mailboxes.clear(session.user, through: through) { [self] result in
                    // Entries that were not forgotten come again at the next login: at least once.
                    if case .failure(let error) = result {
                        shard.logger.warning("mailbox not cleared", metadata: ["error": "\(error)"])
                    }
                }
            }
        }
    }

    private func load(_ user: UserKey, after: Int64, fresh: Bool) {
        shard.messages.readMailbox(user, after: after, limit: MailboxStateMachine.windowBound, fresh: fresh) {
            [self] result in
            switch result {
            case .success(let page):
                perform(mailbox?.loaded(page, now: WallClock.milliseconds) ?? [])
            case .failure:
                eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(.random(in: 200...1000))) { [self] in
                    perform(mailbox?.loadFailed() ?? [])
                }
            }
        }
    }
}
