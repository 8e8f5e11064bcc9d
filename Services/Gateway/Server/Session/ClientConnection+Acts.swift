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

    func perform(_ call: ClientCall, _ session: ActiveSession, _ turn: CallTurn) {
        let user = session.user
        func finish(_ result: Result<ReplyBody, SignalingError>) { answer(turn, result) }
        switch call.act {
        case .pollMailbox(let verClear, let limit):
            poll(turn, verClear: verClear, limit: limit)
        case .sendMessage(let receiver, let seconds, let content):
            let seconds = min(seconds, shard.configuration.messageTimeToLiveBound)
            shard.mailboxes.send(
                to: UserKey(app: user.app, account: receiver), from: user, session: session.actor.session,
                line: MessageLine.instant(
                    from: user.account, to: receiver, ttl: seconds, time: WallClock.milliseconds / 1000,
                    content: content),
                timeToLive: Int64(seconds) * 1000, command: session.command(forMessage: call.messageID),
                bounds: MailboxBounds(limits)
            ) { [self] in messageAnswered(turn, $0.map { _ in }) }
        case .sendChannelMessage(let name, _, _) where name.special != nil:
            // Servers trust what they hear there.
            GatewayMetrics.specialRefused.increment()
            answer(
                turn,
                .failure(SignalingError(.wrongParameter, "special_channel", "only the system speaks in this channel")))
        case .join(let name) where name.special != nil && !mayJoinSpecialChannels:
            GatewayMetrics.specialRefused.increment()
            answer(
                turn,
                .failure(SignalingError(.joinOther, "special_channel", "the app lets no client join this channel")))
        case .sendChannelMessage(let name, let body, let force):
            let message = ChannelMessage(
                channel: ChannelKey(app: user.app, name: name), account: user.account, uid: session.actor.uid,
                fence: fence(session), force: force, limitPerSecond: limits.channelMessagesPerSecond, body: body,
                command: session.command(forMessage: call.messageID))
            // Messages are answered in the order they came, those to users too.
            shard.mailboxes.flush()
            shard.messages.sendToChannel(message) { [self] result in
                messageAnswered(turn, result.map { _ in }.mapError { refusal($0, in: name) })
            }
        case .logOut:
            logOut(session, finish: finish)
        case .queryStatus(let account):
            ask(QueryUserStatus(user: UserKey(app: user.app, account: account)), finish) {
                .userStatus(account, online: $0.online)
            }
        case .setAttribute(let attribute):
            ask(SetUserAttribute(user: user, session: session.actor.session, attribute: attribute), finish) { _ in .done
            }
        case .getAttribute(let account, let name):
            ask(GetUserAttribute(user: UserKey(app: user.app, account: account), name: name), finish) {
                .attribute(account, name, value: $0.value)
            }
        case .listAttributes(let account):
            ask(ListUserAttributes(user: UserKey(app: user.app, account: account)), finish) {
                .attributes(account, $0.attributes)
            }
        case .join(let name):
            join(name, actor: session.actor, finish: finish)
        case .leave(let name):
            leave(name, actor: session.actor, finish: finish)
        case .changeAttributes(let name, let change):
            changeAttributes(name, change, actor: session.actor, finish: finish)
        case .countMembers(let name):
            ask(CountMembers(channel: ChannelKey(app: user.app, name: name)), finish, timeout: .userNumberTimeout) {
                .memberCount(name, $0.count)
            }
        case .queryMember(let name, let account):
            ask(QueryMember(channel: ChannelKey(app: user.app, name: name), account: account), finish) {
                .membership(name, account, isMember: $0.isMember)
            }
        case .listMembers(let name, let limit):
            ask(ListMembers(channel: ChannelKey(app: user.app, name: name), limit: limit), finish) {
                .members(total: $0.total, $0.members)
            }
        case .call(let verb, let name, let peer, let extra):
            let command = CallAct(verb: verb, actor: session.actor, channel: name, peer: peer.rawValue, extra: extra)
            ask(command, finish) { _ in .done }
        }
    }

    /// Whether the app lets it; not while the app's settings are not known.
    private var mayJoinSpecialChannels: Bool { knowsLimits && limits.specialChannelsOpen }

    private func messageAnswered(_ turn: CallTurn, _ result: Result<Void, SignalingError>) {
        if case .failure(let error) = result { noteRefusal(error) }
        answer(turn, result.map { .done })
    }

    /// Redis may have forgotten that the session is in the channel: then the client is to try again.
    private func refusal(_ error: SignalingError, in name: ChannelName) -> SignalingError {
        guard error.reason == "not_member", place.held.isSettled, place.held.channel == name, let session = active
        else { return error }
        shard.ask(about: session.actor.session)
        return .unavailable("redis")
    }

    /// Asks a service; a timeout carries the code that the documents give this function's.
    private func ask<Command: WireCommand>(
        _ command: Command, _ finish: @escaping Finish, timeout code: SignalingCode = .failed,
        _ body: @escaping (Command.Reply) -> ReplyBody
    ) {
        shard.sender.send(command, by: actDeadline) { result in
            finish(result.map(body).mapError { $0.reason == "timeout" ? .timeout(code) : $0 })
        }
    }

    /// Answers first, then closes: one client closes by itself, the other does not.
    private func logOut(_ session: ActiveSession, finish: @escaping Finish) {
        let command = CloseSession(user: session.user, session: session.actor.session, reason: .leaveLogout)
        waitingLogout = finish
        shard.sender.send(command, by: actDeadline) { [self] result in
            guard waitingLogout != nil else { return }
            switch result {
            case .success: loggedOut(finish)
            case .failure(let error):
                waitingLogout = nil
                finish(.failure(error))
            }
        }
    }

    /// The session has ended, as its client wished.
    func loggedOut(_ finish: Finish) {
        waitingLogout = nil
        machine.logsOut()
        finish(.success(.done))
        close(.normalClosure)
    }
}
