internal import CoreMetrics
internal import GatewayLogic
internal import Logging
internal import MessageStore
internal import RedisStore
internal import SignalingProtocol
internal import SignalingWire
internal import WebSocketWire

/// What each function of `call2` does.
extension ClientConnection {
    typealias Finish = (Result<ReplyBody, SignalingError>) -> Void

    func perform(_ call: ClientCall, _ session: ActiveSession, _ turn: CallTurn, on shard: isolated GatewayShard) {
        let user = session.user
        func finish(_ result: Result<ReplyBody, SignalingError>) { answer(turn, result, on: shard) }
        switch call.act {
        case .pollMailbox(let verClear, let limit):
            poll(turn, verClear: verClear, limit: limit, on: shard)
        case .sendMessage(let receiver, let seconds, let content):
            let seconds = min(seconds, shard.configuration.messageTimeToLiveBound)
            shard.mailboxes.send(
                to: UserKey(app: user.app, account: receiver), from: user, session: session.actor.session,
                line: MessageLine.instant(
                    from: user.account, to: receiver, ttl: seconds, time: WallClock.milliseconds / 1000,
                    content: content),
                timeToLive: Int64(seconds) * 1000, command: session.command(forMessage: call.messageID),
                bounds: MailboxBounds(limits)
            ) { [self] in messageAnswered(turn, $0.map { _ in }, on: shard) }
        case .sendChannelMessage(let name, _, _) where name.special != nil:
            // Servers trust what they hear there.
            GatewayMetrics.specialRefused.increment()
            answer(
                turn,
                .failure(SignalingError(.wrongParameter, "special_channel", "only the system speaks in this channel")),
                on: shard)
        case .join(let name) where name.special != nil && !mayJoinSpecialChannels:
            GatewayMetrics.specialRefused.increment()
            answer(
                turn,
                .failure(SignalingError(.joinOther, "special_channel", "the app lets no client join this channel")),
                on: shard)
        case .sendChannelMessage(let name, let body, let force):
            let message = ChannelMessage(
                channel: ChannelKey(app: user.app, name: name), account: user.account, uid: session.actor.uid,
                fence: fence(session), force: force, limitPerSecond: limits.channelMessagesPerSecond, body: body,
                command: session.command(forMessage: call.messageID))
            // Messages are answered in the order they came, those to users too.
            shard.mailboxes.flush()
            shard.messages.sendToChannel(message) { [self] result in
                messageAnswered(turn, result.map { _ in }.mapError { refusal($0, in: name, on: shard) }, on: shard)
            }
        case .logOut:
            logOut(session, on: shard, finish: finish)
        case .queryStatus(let account):
            ask(QueryUserStatus(user: UserKey(app: user.app, account: account)), finish, on: shard) {
                .userStatus(account, online: $0.online)
            }
        case .setAttribute(let attribute):
            ask(SetUserAttribute(user: user, session: session.actor.session, attribute: attribute), finish, on: shard) {
                _ in .done
            }
        case .getAttribute(let account, let name):
            ask(GetUserAttribute(user: UserKey(app: user.app, account: account), name: name), finish, on: shard) {
                .attribute(account, name, value: $0.value)
            }
        case .listAttributes(let account):
            ask(ListUserAttributes(user: UserKey(app: user.app, account: account)), finish, on: shard) {
                .attributes(account, $0.attributes)
            }
        case .join(let name):
            join(name, actor: session.actor, on: shard, finish: finish)
        case .leave(let name):
            leave(name, actor: session.actor, on: shard, finish: finish)
        case .changeAttributes(let name, let change):
            changeAttributes(name, change, actor: session.actor, on: shard, finish: finish)
        case .countMembers(let name):
            ask(
                CountMembers(channel: ChannelKey(app: user.app, name: name)), finish, timeout: .userNumberTimeout,
                on: shard
            ) {
                .memberCount(name, $0.count)
            }
        case .queryMember(let name, let account):
            ask(QueryMember(channel: ChannelKey(app: user.app, name: name), account: account), finish, on: shard) {
                .membership(name, account, isMember: $0.isMember)
            }
        case .listMembers(let name, let limit):
            ask(ListMembers(channel: ChannelKey(app: user.app, name: name), limit: limit), finish, on: shard) {
                .members(total: $0.total, $0.members)
            }
        case .call(let verb, let name, let peer, let extra):
            let command = CallAct(verb: verb, actor: session.actor, channel: name, peer: peer.rawValue, extra: extra)
            ask(command, finish, on: shard) { _ in .done }
        }
    }

    /// Whether the app lets it; not while the app's settings are not known.
    private var mayJoinSpecialChannels: Bool { knowsLimits && limits.specialChannelsOpen }

    private func messageAnswered(
        _ turn: CallTurn, _ result: Result<Void, SignalingError>, on shard: isolated GatewayShard
    ) {
        if case .failure(let error) = result { noteRefusal(error, on: shard) }
        answer(turn, result.map { .done }, on: shard)
    }

    /// Redis may have forgotten that the session is in the channel: then the client is to try again.
    private func refusal(_ error: SignalingError, in name: ChannelName, on shard: isolated GatewayShard)
        -> SignalingError
    {
        guard error.reason == "not_member", place.held.isSettled, place.held.channel == name, let session = active
        else { return error }
        shard.ask(about: session.actor.session)
        return .unavailable("redis")
    }

    /// Asks a service; a timeout carries the code that the documents give this function's.
    private func ask<Command: WireCommand>(
        _ command: Command, _ finish: @escaping Finish, timeout code: SignalingCode = .failed,
        on shard: isolated GatewayShard, _ body: @escaping (Command.Reply) -> ReplyBody
    ) {
        shard.sender.send(command, by: actDeadline) { result in
            finish(result.map(body).mapError { $0.reason == "timeout" ? .timeout(code) : $0 })
        }
    }

    /// Answers first, then closes: one client closes by itself, the other does not.
    private func logOut(_ session: ActiveSession, on shard: isolated GatewayShard, finish: @escaping Finish) {
        let command = CloseSession(user: session.user, session: session.actor.session, reason: .leaveLogout)
        waitingLogout = finish
        shard.sender.send(command, by: actDeadline) { [self] result in
            guard waitingLogout != nil else { return }
            switch result {
            case .success: loggedOut(finish, on: shard)
            case .failure(let error):
                waitingLogout = nil
                finish(.failure(error))
            }
        }
    }

    /// The session has ended, as its client wished.
    func loggedOut(_ finish: Finish, on shard: isolated GatewayShard) {
        waitingLogout = nil
        machine.logsOut()
        finish(.success(.done))
        close(.normalClosure, on: shard)
    }
}
