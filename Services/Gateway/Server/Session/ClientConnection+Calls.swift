internal import BusProtocol
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
    func send(_ message: ClientCall.MessageAct, _ call: StartedCall, on shard: isolated GatewayShard) {
        let (active, bounds) = (call.session, call.bounds)
        switch message {
        case .toUser(let receiver, let seconds, let content):
            let seconds = min(seconds, shard.environment.longestMessageSeconds)
            var message = InstantMessage(
                to: UserKey(app: active.user.app, account: receiver), from: active.keys, in: active.id,
                line: MessageLine.instant(
                    from: active.user.account, to: receiver, ttl: seconds, time: WallClock.seconds,
                    content: content),
                seconds: seconds)
            message.command = active.command(forMessage: call.messageID)
            message.bounds = MailboxBounds(entries: Int(bounds.mailboxEntries), bytes: Int(bounds.mailboxBytes))
            message.told = shard.messageEvents(of: active.user.app).map { events in
                ToldMessage(content, from: active.user.account, as: events)
            }
            send(message, call, on: shard)
        case .toChannel(let name, let body, let force):
            var message = ChannelMessage(
                channel: ChannelKey(app: active.user.app, name: name), account: active.user.account,
                uid: active.actor.uid, body: body)
            message.fence = fence(active)
            message.force = force
            message.limitPerSecond = Int(bounds.channelPerSecond)
            message.told = shard.messageEvents(of: active.user.app)
            message.command = active.command(forMessage: call.messageID)
            send(message, call, on: shard)
        }
    }

    private func send(_ message: InstantMessage, _ call: StartedCall, on shard: isolated GatewayShard) {
        let ticket = call.ticket
        guard shard.maySend(as: call.session.user) else {
            return handle(.messageAnswered(ticket, .unavailable("redis"), channel: nil), on: shard)
        }
        shard.mailboxes.send(message) { [self] result in
            GatewayMetrics.shared.calls.message.record(since: ticket.arrivedAt)
            // A repetition has no version.
            if case .success(1...) = result { shard.usage.sent(in: message.to.app) }
            handle(.messageAnswered(ticket, result.failure, channel: nil), on: shard)
        }
    }

    private func send(_ message: ChannelMessage, _ call: StartedCall, on shard: isolated GatewayShard) {
        let ticket = call.ticket
        // Messages are answered in the order of their arrival, those to users and those to channels.
        shard.mailboxes.flush()
        let name = message.channel.name
        // A member's session is known to the channel, which refuses others.
        guard !message.force || shard.maySend(as: call.session.user) else {
            return handle(.messageAnswered(ticket, .unavailable("redis"), channel: name), on: shard)
        }
        shard.messages.sendToChannel(message) { [self] result in
            GatewayMetrics.shared.calls.channelMessage.record(since: ticket.arrivedAt)
            if case .success(let sent) = result, sent.id > 0 { shard.usage.sent(in: message.channel.app) }
            if result.failure?.reason == .rateLimited { GatewayMetrics.shared.channelLimited.increment() }
            handle(.messageAnswered(ticket, result.failure, channel: name), on: shard)
        }
    }

    // MARK: - Services

    /// A call that a service answers.
    private struct AskedCall {
        let call: StartedCall
        /// Where the time to the answer is counted.
        let durations: Histogram
        /// The code that the documents define for a timeout of this function.
        let timeoutCode: SignalingCode

        /// The app of the client.
        var app: AppID { call.session.user.app }
    }

    func ask(_ act: ClientCall.ServiceAct, _ call: StartedCall, on shard: isolated GatewayShard) {
        let actor = call.session.actor
        func asked(_ durations: Histogram) -> AskedCall {
            AskedCall(call: call, durations: durations, timeoutCode: act.timeoutCode)
        }
        switch act {
        case .presence(let act): ask(act, asked(GatewayMetrics.shared.calls.user), on: shard)
        case .member(let act): ask(act, asked(GatewayMetrics.shared.calls.channel), on: shard)
        case .changeAttributes(let name, let change):
            let command = ChangeChannelAttributes(
                actor: actor, channel: name, change: change, limitPerSecond: Int(call.bounds.channelPerSecond))
            ask(command, asked(GatewayMetrics.shared.calls.channel), on: shard) { _ in .done }
        case .call(let verb, let name, let peer, let extra):
            let command = CallAct(verb: verb, actor: actor, channel: name, peer: peer.rawValue, extra: extra)
            ask(command, asked(GatewayMetrics.shared.calls.invitation), on: shard) { _ in .done }
        }
    }

    private func ask(_ act: ClientCall.PresenceAct, _ asked: AskedCall, on shard: isolated GatewayShard) {
        func user(_ account: Account) -> UserKey { UserKey(app: asked.app, account: account) }
        switch act {
        case .queryStatus(let account):
            ask(QueryUserStatus(user: user(account)), asked, on: shard) { .userStatus(account, online: $0.online) }
        case .setAttribute(let attribute):
            let active = asked.call.session
            let command = SetUserAttribute(user: active.user, session: active.id, attribute: attribute)
            ask(command, asked, on: shard) { _ in .done }
        case .getAttribute(let account, let name):
            ask(GetUserAttribute(user: user(account), name: name), asked, on: shard) {
                .attribute(account, name, value: $0.value)
            }
        case .listAttributes(let account):
            ask(ListUserAttributes(user: user(account)), asked, on: shard) { .attributes(account, $0.attributes) }
        }
    }

    private func ask(_ act: ClientCall.MemberAct, _ asked: AskedCall, on shard: isolated GatewayShard) {
        func channel(_ name: ChannelName) -> ChannelKey { ChannelKey(app: asked.app, name: name) }
        switch act {
        case .count(let name):
            ask(CountMembers(channel: channel(name)), asked, on: shard) { .memberCount(name, $0.count) }
        case .query(let name, let account):
            ask(QueryMember(channel: channel(name), account: account), asked, on: shard) {
                .membership(name, account, isMember: $0.isMember)
            }
        case .list(let name, let limit):
            ask(ListMembers(channel: channel(name), limit: limit), asked, on: shard) {
                .members(total: $0.total, $0.members)
            }
        }
    }

    /// Sends a command to a service. A timeout gets the code that the documents define for this function.
    private func ask<Command: ServiceCommand>(
        _ command: Command, _ asked: AskedCall, on shard: isolated GatewayShard,
        _ body: @escaping (Command.Reply) -> ReplyBody
    ) {
        let ticket = asked.call.ticket
        shard.sender.send(command, by: deadline(of: ticket, on: shard)) { [self] result in
            asked.durations.record(since: ticket.arrivedAt)
            let answer = result.map(body).mapError { $0.reason == .timeout ? .timeout(asked.timeoutCode) : $0 }
            handle(.answered(ticket, answer), on: shard)
        }
    }
}
