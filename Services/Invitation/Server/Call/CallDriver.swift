internal import BusProtocol
internal import ClusterBus
internal import ClusterService
internal import ClusterState
internal import InvitationLogic
internal import Logging
internal import MessageStore
internal import NIOCore
internal import Pacing
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Passes an event to a call's state machine: loads the call, decides, commits, performs the actions.
///
/// The new state is committed together with its actions, under the command's id. A redelivered command repeats the
/// actions, each of which is idempotent, so a process may die at any point.
struct CallDriver: Sendable {
    /// An event: changes the state machine at a time and returns the actions.
    typealias Event = @Sendable (inout CallStateMachine, RedisTime) throws(SignalingError) -> [CallAction]

    /// How often an event is decided again because the call was changed concurrently.
    private static let conflictBound = 16
    /// How long an event is repeated while Redis does not answer.
    private static let patience = Duration.seconds(4)
    /// The same when the event may have been committed: its actions must be performed, and Redis keeps them for a
    /// minute.
    private static let completionTime = Duration.seconds(50)
    /// The pauses before repetitions.
    private static let pauses = BackOff(base: .milliseconds(50), ceiling: .seconds(1))

    let records: CallRecordStore
    let messages: MessageStore
    let timers: ServiceTimers<InvitationTimer>
    let phones: PhoneDispatch
    let lines: PhoneLines
    let ends: RecentEnds
    let followed: FollowedEvents
    let durations: CallDurations
    let logger: Logger

    /// Handles an event.
    /// - Returns: the call afterwards, if any.
    /// - Throws: the state machine's answer to a refused act, or an error of a store. Either nothing has changed, or a
    ///   repetition with the same id completes the event.
    @discardableResult
    func play(_ tag: String, _ command: CommandContext, _ event: Event) async throws(SignalingError) -> CallSnapshot? {
        let start = ContinuousClock.now
        var failures = 0
        var isBegun = false
        while true {
            do throws(SignalingError) {
                return try await playOnce(tag, command, event, &isBegun)
            } catch {
                let end = start + (isBegun ? Self.completionTime : Self.patience)
                guard error.reason == .unavailable, ContinuousClock.now + Self.pauses.bound(attempt: failures) < end
                else { throw error }
                logger.about(command).debug(
                    "could not store a call's event; trying again",
                    metadata: ["command": "\(command.id)", "error": "\(error)"])
                // If the pause is cancelled, the repetition just comes earlier.
                try? await Task.sleep(for: Self.pauses.delay(attempt: failures, fromHalfBy: .random(in: 0...1)))
                failures += 1
            }
        }
    }

    private func playOnce(
        _ tag: String, _ command: CommandContext, _ event: Event, _ isBegun: inout Bool
    ) async throws(SignalingError) -> CallSnapshot? {
        for _ in 0..<Self.conflictBound {
            let loaded = try await records.load(tag, command: command.id)
            if let done = loaded.done {
                isBegun = true
                await tell(done)
                try await carryOut(done, of: loaded.snapshot, tag, command, loaded.now)
                return loaded.snapshot
            }
            let before = CallStateMachine(loaded.snapshot, durations: durations)
            var machine = before
            let actions = try event(&machine, loaded.now).map { $0.caused(by: command.cause) }
            guard machine != before, let snapshot = machine.snapshot else {
                try await carryOut(actions, of: loaded.snapshot, tag, command, loaded.now)
                return loaded.snapshot
            }
            isBegun = true
            switch try await records.commit(tag, command: command, loaded: loaded.version, snapshot, actions) {
            case .now(let isFollowed):
                InvitationMetrics.shared.count(actions)
                if isFollowed != false { await tell(actions, isReachable: isFollowed != nil) }
                try await carryOut(actions, of: snapshot, tag, command, loaded.now)
                return snapshot
            case .before(let actions):
                await tell(actions)
                try await carryOut(actions, of: snapshot, tag, command, loaded.now)
                return snapshot
            case .conflict:
                InvitationMetrics.shared.conflicts.increment()
            }
        }
        InvitationMetrics.shared.conflictBoundHit.increment()
        logger.about(command).warning(
            "gave up on a call's event: other processes kept changing the call",
            metadata: ["command": "\(command.id)", "bound": "\(Self.conflictBound)"])
        throw SignalingError(.failed, .busy, "the call changed \(Self.conflictBound) times at once; try again")
    }

    /// Tells those who follow the app's events, if there are any. Before the parties hear of the change, so that what
    /// they do next is told later; but they do not wait for a log whose master is away.
    private func tell(_ actions: [CallAction], isReachable: Bool = true) async {
        let entries = actions.compactMap { action -> CallLogEntry? in
            if case .log(let entry) = action { entry } else { nil }
        }
        await followed.tell(entries, isReachable: isReachable)
    }

    private func carryOut(
        _ actions: [CallAction], of snapshot: CallSnapshot?, _ tag: String, _ command: CommandContext, _ now: RedisTime
    ) async throws(SignalingError) {
        guard let channel = snapshot?.call.channel else { return }
        let app = channel.app
        for (index, action) in actions.enumerated() {
            let id = command.id.derived("\(index)")
            switch action {
            case .deliverInvitation(let delivery):
                let mail = CallMail(delivery, in: channel).message(id, now: now)
                try await invite(delivery, mail, tag, command)
            case .deliver(let delivery):
                try await deliver(delivery, channel, id, now, command)
            case .withdrawInvitation(let callee, let version):
                try await withdraw(UserKey(app: app, account: callee), version)
            case .schedule(let timer, let time):
                try await timers.set(.call(CallTimerReference(timer, tag: tag)), at: time)
            case .cancel(let timer, _):
                try await timers.cancel(.call(CallTimerReference(timer, tag: tag)))
            case .remember(let call, let account):
                try await records.remember(
                    CallReference(call: call, tag: tag), of: UserKey(app: app, account: account))
            case .forget(let call, let account):
                try await records.forget(CallReference(call: call, tag: tag), of: UserKey(app: app, account: account))
            case .dial(let call, let extra, let until):
                try await phones.dial(call, extra, id, until: until, for: command.cause)
            case .order(let order): try await phones.send(order, id, for: command)
            case .hold(let call, let bridge):
                try await hold(CallReference(call: call, tag: tag), bridge, now)
            case .release(let call, let bridge):
                try await records.release(CallReference(call: call, tag: tag), by: bridge)
            case .keepLine(let call, let account, let until):
                try await lines.keep(call, of: UserKey(app: app, account: account), until: until)
            case .freeLine(let call, let account):
                try await lines.free(call, of: UserKey(app: app, account: account))
            case .log(let entry):
                try await keep(entry, of: tag, command)
            }
        }
    }

    private func keep(
        _ entry: CallLogEntry, of tag: String, _ command: CommandContext
    ) async throws(SignalingError) {
        if !records.logsWithCommit { try await records.log(entry, of: tag) }
        ends.add(entry, of: tag)
        note(entry, command)
    }

    private func invite(
        _ delivery: CallDelivery, _ mail: UserMessage, _ tag: String, _ command: CommandContext
    ) async throws(SignalingError) {
        // Through `playOnce`, so that the whole command is repeated when Redis does not answer.
        do throws(SignalingError) {
            let queued = try await messages.sendToUser(mail)
            let report = command.step("queued")
            let event: Event = { machine, _ throws(SignalingError) in
                machine.invitationQueued(call: delivery.event.call, version: queued.version)
            }
            var isBegun = true
            _ = try await playOnce(tag, report, event, &isBegun)
        } catch {
            guard error.code == .messageOther else { throw error }
            let report = command.step("undeliverable")
            let event: Event = { machine, now throws(SignalingError) in
                machine.invitationUndeliverable(call: delivery.event.call, now: now)
            }
            var isBegun = true
            _ = try await playOnce(tag, report, event, &isBegun)
            throw SignalingError(.inviteOther, error.reason, error.message)
        }
    }

    private func deliver(
        _ delivery: CallDelivery, _ channel: ChannelKey, _ id: CommandID, _ now: RedisTime, _ command: CommandContext
    ) async throws(SignalingError) {
        do throws(SignalingError) {
            let queued = try await messages.sendToUser(CallMail(delivery, in: channel).message(id, now: now))
            guard queued.version == 0, delivery.withdrawsWhenMissed, case .invited(let version) = delivery.audience
            else { return }
            try await withdraw(UserKey(app: channel.app, account: delivery.receiver), version)
        } catch {
            guard error.code == .messageOther else { throw error }
            // The call continues: a full mailbox of one party must not affect the other.
            InvitationMetrics.shared.eventsDropped.increment()
            logger.about(command).warning(
                "dropped a call event: the receiver's mailbox is full",
                metadata: ["call": "\(delivery.event.call)", "why": "\(error.reason)"])
        }
    }

    /// Lists the call among the bridge's, and sets the bridge's timer: the bridge may have been lost just before, when
    /// its other calls were ended.
    private func hold(_ call: CallReference, _ bridge: BridgeID, _ now: RedisTime) async throws(SignalingError) {
        try await records.hold(call, by: bridge)
        try await timers.set(.bridge(bridge), at: now + BridgeID.fleet.watchDelay)
    }

    private func withdraw(_ user: UserKey, _ version: Int64) async throws(SignalingError) {
        try await messages.removeMail(user, version: version)
    }

    private func note(_ entry: CallLogEntry, _ command: CommandContext) {
        let call = entry.call
        logger.about(command).debug(
            "call",
            metadata: [
                "app": "\(call.channel.app)", "call": "\(call.id)", "caller": "\(call.caller.account)",
                "callee": "\(call.callee.account)", "channel": "\(call.channel.name)",
                "session": "\(call.caller.session?.rawValue ?? "-")",
                "bridge": "\(call.phone?.bridge?.rawValue ?? "-")",
                "sipCallID": "\(call.phone?.record.sipCallID ?? "-")", "end": "\(entry.end?.rawValue ?? "-")",
            ])
    }
}

extension CallAction {
    /// The same; what is written to the call log says which request has caused it, so that webhooks can tell.
    fileprivate func caused(by cause: CommandCause) -> CallAction {
        guard case .log(var entry) = self else { return self }
        entry.request = EventRequest(cause)
        return .log(entry)
    }
}

extension CallStateMachine {
    fileprivate init(_ snapshot: CallSnapshot?, durations: CallDurations) {
        if let snapshot {
            self.init(snapshot, durations: durations)
        } else {
            self.init(durations: durations)
        }
    }
}
