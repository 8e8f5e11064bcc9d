internal import BusProtocol
internal import GatewayLogic
internal import Logging
internal import NIOCore
internal import Pacing
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol
internal import WebSocketWire

/// Performs the actions of ``ClientSession``, except requests to Redis and the services.
extension ClientConnection {
    func perform(_ action: SessionAction, on shard: isolated GatewayShard) {
        switch action {
        case .send(let frame, let isAnswer): shard.send(.text, frame, to: outlet, isAnswer: isAnswer)
        case .close(let closing): close(closing.code, on: shard)
        case .cutOff: cutOff(.heldEvents, on: shard)
        case .setReading(let reads): setReading(reads)
        case .raiseOutputBound: outlet.bound = shard.configuration.sendBufferBound
        case .raisePace: raisePace()
        case .count(let count): self.count(count, on: shard)
        case .logError(let what): shard.logger.error("client session", metadata: ["error": "\(what)"])
        case .sendMessage(let call, let message): send(message, call, on: shard)
        case .askService(let call, let act): ask(act, call, on: shard)
        case .startPollTimer(let delay): startPollTimer(delay, on: shard)
        case .cancelPollTimer: cancelPollTimer()
        case .request(let request): perform(request, on: shard)
        case .session(let action): perform(action, on: shard)
        case .channel(let action): perform(action, on: shard)
        }
    }

    private func perform(_ action: SessionAction.Session, on shard: isolated GatewayShard) {
        switch action {
        case .bind(let session): shard.bind(session, to: self)
        case .unbind(let session): shard.unbind(session, from: self)
        case .takeRates(let session): handle(.session(.ratesTaken(shard.takeRates(of: session))), on: shard)
        case .keepRates(let session, let rates): shard.keep(rates, of: session)
        case .detach(let session, let user, let claim): shard.detach(session, of: user, claim: claim)
        case .remember(let held): shard.remember(addressed(held))
        case .detachDoubtful(let session, let user): shard.detach(session, of: user, isDoubtful: true)
        case .askWhoseSession(let session): shard.ask(about: session)
        }
    }

    /// The session in the form in which it is reasserted; nil unless it is logged in.
    var heldSession: HeldSession? { session.held.map(addressed) }

    /// With what the session's logic does not know: the address that its client connects from.
    private func addressed(_ held: HeldSession) -> HeldSession {
        var held = held
        held.address = remote?.clientAddress
        return held
    }

    private func perform(_ action: SessionAction.Channel, on shard: isolated GatewayShard) {
        switch action {
        case .unsubscribe(let key): unsubscribe(key, on: shard)
        case .enter(let key, let account): enter(key, as: account, on: shard)
        case .leaveLocally: leaveLocally(on: shard)
        case .holdEvents: channel?.fanout.hold(self)
        case .showAll(let id): channel?.fanout.showAll(after: id, to: self)
        case .advanceFeed(let position): channel?.feed.joined(at: position)
        case .show(let events): channel?.fanout.show(events, to: self)
        case .showRemoval(let event): channel?.fanout.showOwn(event, to: self)
        case .continueIDs(let id): channel?.fanout.continueIDs(after: id, for: self)
        }
    }

    private func startPollTimer(_ delay: Duration, on shard: isolated GatewayShard) {
        pollTimer = shard.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [self] in
            pollTimer = nil
            handle(.mailbox(.pollTimerFired), on: shard)
        }
    }

    private func cancelPollTimer() {
        pollTimer?.cancel()
        pollTimer = nil
    }

    private func unsubscribe(_ key: ChannelKey, on shard: isolated GatewayShard) {
        if let unused = shard.channels[key] { shard.releaseIfEmpty(unused) }
    }

    private func enter(_ key: ChannelKey, as account: Account, on shard: isolated GatewayShard) {
        let entered = shard.channel(key)
        channel = entered
        entered.fanout.add(self, as: account)
    }

    private func leaveLocally(on shard: isolated GatewayShard) {
        guard let left = channel else { return }
        left.fanout.remove(self)
        channel = nil
        shard.releaseIfEmpty(left)
    }

    private func recordLogin(on shard: isolated GatewayShard) {
        let untilDeadline = (loginDeadline - .now).duration
        GatewayMetrics.shared.loginDuration.record(shard.environment.callTimeout.duration - untilDeadline)
    }

    private func count(_ count: SessionAction.Count, on shard: isolated GatewayShard) {
        switch count {
        case .login:
            GatewayMetrics.shared.logins.increment()
            recordLogin(on: shard)
        case .resume:
            GatewayMetrics.shared.resumes.increment()
            recordLogin(on: shard)
        case .loginFailure(let isOfTheLogin):
            GatewayMetrics.shared.loginFailures.increment()
            if isOfTheLogin { shard.addressLimiter.loginFailed(addressKey) }
        case .loginLimited: GatewayMetrics.shared.loginsLimited.increment()
        case .callFailure: GatewayMetrics.shared.callFailures.increment()
        case .messageLimited:
            GatewayMetrics.shared.limited.increment()
            chargeRefusal()
        case .actLimited:
            GatewayMetrics.shared.actsLimited.increment()
            chargeRefusal()
        case .specialChannelRefused: GatewayMetrics.shared.specialRefused.increment()
        case .pollDelayed: GatewayMetrics.shared.pollsDelayed.increment()
        case .overdue: GatewayMetrics.shared.overdue.increment()
        case .readingPaused: GatewayMetrics.shared.pauses.increment()
        case .mailboxReset:
            GatewayMetrics.shared.mailboxResets.increment()
            shard.logger.warning("Redis has lost messages: a mailbox's versions went back")
        case .mailboxFull: GatewayMetrics.shared.mailboxesFull.increment()
        case .memoryFull: GatewayMetrics.shared.memoryFull.increment()
        case .resumeAbandoned(let name):
            GatewayMetrics.shared.abandonedResumes.increment()
            shard.logger.warning(
                "closed for a resume: could not read the channel's events", metadata: ["channel": "\(name)"])
        case .joinUnsettled: GatewayMetrics.shared.unsettledJoins.increment()
        case .tooManyCalls: noteViolation("more than \(CallPipeline.bound) calls unanswered", on: shard)
        }
    }
}

extension SessionAction.Closing {
    /// The code of the close frame.
    fileprivate var code: WebSocketCloseCode {
        switch self {
        case .normal: .normalClosure
        case .goingAway: .goingAway
        case .tooMuch, .banned: .policyViolation
        case .restart: .serviceRestart
        }
    }
}
