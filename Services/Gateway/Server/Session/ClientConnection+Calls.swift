internal import ClusterBus
internal import GatewayLogic
internal import MessageStore
internal import NIOCore
internal import ServiceKit
internal import ServiceMetrics
internal import SignalingProtocol
internal import SignalingWire

/// The functions of `call2` that need a service or a store.
extension ClientConnection {
    func perform(_ call: StartedCall, on shard: isolated GatewayShard) {
        let (active, ticket, bounds) = (call.session, call.ticket, call.bounds)
        switch call.act {
        case .sendMessage(let receiver, let seconds, let content):
            let seconds = min(seconds, shard.environment.longestMessageSeconds)
            var message = InstantMessage(
                to: UserKey(app: active.user.app, account: receiver), from: active.keys, in: active.id,
                line: MessageLine.instant(
                    from: active.user.account, to: receiver, ttl: seconds, time: WallClock.seconds,
                    content: content),
                seconds: seconds)
            message.command = active.command(forMessage: call.messageID)
            message.bounds = MailboxBounds(entries: Int(bounds.mailboxEntries), bytes: Int(bounds.mailboxBytes))
            guard shard.maySend(as: active.user) else {
                return handle(.messageAnswered(ticket, .unavailable("redis"), channel: nil), on: shard)
            }
            shard.mailboxes.send(message) { [self] result in
                GatewayMetrics.shared.calls.message.record(since: ticket.arrivedAt)
                handle(.messageAnswered(ticket, result.failure, channel: nil), on: shard)
            }
        case .sendChannelMessage(let name, let body, let force):
            var message = ChannelMessage(
                channel: ChannelKey(app: active.user.app, name: name), account: active.user.account,
                uid: active.actor.uid, body: body)
            message.fence = fence(active)
            message.force = force
            message.limitPerSecond = Int(bounds.channelPerSecond)
            message.command = active.command(forMessage: call.messageID)
            send(ticket, message, as: active.user, on: shard)
        case .queryStatus, .setAttribute, .getAttribute, .listAttributes:
            askPresence(ticket, call.act, active, on: shard)
        case .changeAttributes(let name, let change):
            let command = ChangeChannelAttributes(
                actor: active.actor, channel: name, change: change,
                limitPerSecond: Int(bounds.channelPerSecond))
            ask(ticket, command, GatewayMetrics.shared.calls.channel, on: shard) { _ in .done }
        case .countMembers, .queryMember, .listMembers:
            askAboutMembers(ticket, call.act, active, on: shard)
        case .call(let verb, let name, let peer, let extra):
            let command = CallAct(verb: verb, actor: active.actor, channel: name, peer: peer.rawValue, extra: extra)
            ask(ticket, command, GatewayMetrics.shared.calls.invitation, on: shard) { _ in .done }
        case .pollMailbox, .logOut, .join, .leave:
            endExcluded("a call that has a session action of its own was to be executed", on: shard)
        }
    }

    private func send(
        _ ticket: CallTicket, _ message: ChannelMessage, as user: UserKey, on shard: isolated GatewayShard
    ) {
        // Messages are answered in the order of their arrival, those to users and those to channels.
        shard.mailboxes.flush()
        let name = message.channel.name
        // A member's session is known to the channel, which refuses others.
        guard !message.force || shard.maySend(as: user) else {
            return handle(.messageAnswered(ticket, .unavailable("redis"), channel: name), on: shard)
        }
        shard.messages.sendToChannel(message) { [self] result in
            GatewayMetrics.shared.calls.channelMessage.record(since: ticket.arrivedAt)
            if result.failure?.reason == .rateLimited { GatewayMetrics.shared.channelLimited.increment() }
            handle(.messageAnswered(ticket, result.failure, channel: name), on: shard)
        }
    }

    private func askPresence(
        _ ticket: CallTicket, _ act: ClientCall.Act, _ active: ActiveSession, on shard: isolated GatewayShard
    ) {
        func user(_ account: Account) -> UserKey { UserKey(app: active.user.app, account: account) }
        switch act {
        case .queryStatus(let account):
            ask(ticket, QueryUserStatus(user: user(account)), GatewayMetrics.shared.calls.user, on: shard) {
                .userStatus(account, online: $0.online)
            }
        case .setAttribute(let attribute):
            let command = SetUserAttribute(user: active.user, session: active.actor.session, attribute: attribute)
            ask(ticket, command, GatewayMetrics.shared.calls.user, on: shard) { _ in .done }
        case .getAttribute(let account, let name):
            ask(ticket, GetUserAttribute(user: user(account), name: name), GatewayMetrics.shared.calls.user, on: shard)
            {
                .attribute(account, name, value: $0.value)
            }
        case .listAttributes(let account):
            ask(ticket, ListUserAttributes(user: user(account)), GatewayMetrics.shared.calls.user, on: shard) {
                .attributes(account, $0.attributes)
            }
        case .pollMailbox, .sendMessage, .logOut, .join, .leave, .sendChannelMessage, .changeAttributes, .countMembers,
            .queryMember, .listMembers, .call:
            endExcluded("presence was to be asked what it does not answer", on: shard)
        }
    }

    private func askAboutMembers(
        _ ticket: CallTicket, _ act: ClientCall.Act, _ active: ActiveSession, on shard: isolated GatewayShard
    ) {
        func channel(_ name: ChannelName) -> ChannelKey { ChannelKey(app: active.user.app, name: name) }
        switch act {
        case .countMembers(let name):
            ask(
                ticket, CountMembers(channel: channel(name)), GatewayMetrics.shared.calls.channel,
                timeout: .userNumberTimeout, on: shard
            ) {
                .memberCount(name, $0.count)
            }
        case .queryMember(let name, let account):
            ask(
                ticket, QueryMember(channel: channel(name), account: account), GatewayMetrics.shared.calls.channel,
                on: shard
            ) {
                .membership(name, account, isMember: $0.isMember)
            }
        case .listMembers(let name, let limit):
            ask(
                ticket, ListMembers(channel: channel(name), limit: limit), GatewayMetrics.shared.calls.channel,
                on: shard
            ) {
                .members(total: $0.total, $0.members)
            }
        case .pollMailbox, .sendMessage, .logOut, .queryStatus, .setAttribute, .getAttribute, .listAttributes, .join,
            .leave, .sendChannelMessage, .changeAttributes, .call:
            endExcluded("a call that is no question about members was taken for one", on: shard)
        }
    }

    /// Sends a command to a service. A timeout gets the code that the documents define for this function.
    /// - Parameter durations: where the time to the answer is counted.
    private func ask<Command: WireCommand>(
        _ ticket: CallTicket, _ command: Command, _ durations: Histogram,
        timeout code: SignalingCode = .failed,
        on shard: isolated GatewayShard, _ body: @escaping (Command.Reply) -> ReplyBody
    ) {
        shard.sender.send(command, by: deadline(of: ticket, on: shard)) { [self] result in
            durations.record(since: ticket.arrivedAt)
            let answer = result.map(body).mapError { $0.reason == .timeout ? .timeout(code) : $0 }
            handle(.answered(ticket, answer), on: shard)
        }
    }
}
