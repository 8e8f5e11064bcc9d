internal import CoreMetrics
internal import GatewayLogic
internal import Logging
internal import MessageStore
internal import RedisStore
internal import SignalingProtocol
internal import SignalingWire
internal import WebSocketWire

/// The session's place in a channel.
extension ClientConnection {
    /// Joins, leaving the channel the session was in.
    func join(
        _ name: ChannelName, actor: Actor, on shard: isolated GatewayShard,
        finish: @escaping (Result<ReplyBody, SignalingError>) -> Void
    ) {
        let key = ChannelKey(app: actor.user.app, name: name)
        if let channel, channel.key == key {
            // Joining the channel it is in.
            holdEvents(of: channel)
            return sendJoin(name, actor: actor, on: shard, finish: finish)
        }
        if waitsForSettlement({ [self] in join(name, actor: actor, on: shard, finish: finish) }) { return }
        let joined = shard.channel(key)
        joined.whenSubscribed { [self] subscribed in
            guard subscribed, machine.isActive else {
                shard.releaseIfEmpty(joined)
                return finish(.failure(.unavailable("redis")))
            }
            change(to: joined, actor: actor, on: shard, finish: finish)
        }
    }

    /// Asks for the join of a channel whose events come already, those of the channel before no longer.
    private func change(
        to joined: LocalChannel, actor: Actor, on shard: isolated GatewayShard,
        finish: @escaping (Result<ReplyBody, SignalingError>) -> Void
    ) {
        let previous = channel
        let left = previous?.feed.last
        leaveLocalChannel(on: shard)
        enter(joined, on: shard)
        sendJoin(joined.key.name, actor: actor, on: shard) { [self] result in
            if case .failure(let error) = result, channel === joined {
                leaveLocalChannel(on: shard)
                settle(error, channel: joined.key.name, previous: previous?.key, actor: actor, on: shard)
                if let previous { goOn(in: previous.key, after: left, on: shard) }
            }
            finish(result)
        }
    }

    private func sendJoin(
        _ name: ChannelName, actor: Actor, on shard: isolated GatewayShard,
        finish: @escaping (Result<ReplyBody, SignalingError>) -> Void
    ) {
        let command = JoinChannel(actor: actor, channel: name, turn: place.moves())
        shard.sender.send(command, by: actDeadline) { [self] result in
            switch result {
            case .success(let joined):
                place.moved(to: name)
                let position = ChannelPosition(sequence: joined.sequence, id: joined.id)
                afterAnswer = { [self] in channel?.activate(self, after: position) }
                finish(.success(.joined(id: joined.id, members: joined.members, attributes: joined.attributes)))
            case .failure(let error):
                place.failed(error)
                afterAnswer = { [self] in channel?.resume(self) }
                finish(.failure(error))
            }
        }
    }

    /// Until the answer to an act of a member was written.
    private func holdEvents(of channel: LocalChannel) {
        channel.closeLane(of: self)
        membership?.pause()
    }

    /// Leaves; the leaver gets the answer, not the event.
    func leave(
        _ name: ChannelName, actor: Actor, on shard: isolated GatewayShard,
        finish: @escaping (Result<ReplyBody, SignalingError>) -> Void
    ) {
        let former = place.held.channel
        let command = LeaveChannel(actor: actor, channel: name, reason: .leaveByUser, turn: place.moves())
        shard.sender.send(command, by: actDeadline) { [self] result in
            switch result {
            case .success:
                place.moved(to: former == name ? nil : former)
                if channel?.key.name == name { leaveLocalChannel(on: shard) }
            case .failure(let error): place.failed(error)
            }
            finish(result.map { _ in .done })
        }
    }

    /// Changes attributes. The service publishes the change before it answers; the one who made it is shown the answer first.
    func changeAttributes(
        _ name: ChannelName, _ change: AttributeChange, actor: Actor, on shard: isolated GatewayShard,
        finish: @escaping (Result<ReplyBody, SignalingError>) -> Void
    ) {
        if let channel, channel.key.name == name { holdEvents(of: channel) }
        let command = ChangeChannelAttributes(
            actor: actor, channel: name, change: change, limitPerSecond: limits.channelAttributeChangesPerSecond)
        shard.sender.send(command, by: actDeadline) { [self] result in
            afterAnswer = { [self] in channel?.resume(self) }
            finish(result.map { _ in .done })
        }
    }

    /// Goes on in the channel of a resumed session, from the event the client names, or from now on.
    func rejoin(_ key: ChannelKey, session: ConnectionStateMachine.Session, on shard: isolated GatewayShard) {
        let joined = shard.channel(key)
        joined.whenSubscribed { [self] subscribed in
            guard subscribed, machine.isActive else {
                shard.releaseIfEmpty(joined)
                return abandonResume(in: key, on: shard)
            }
            rejoin(joined, session: session, on: shard)
        }
    }

    private func rejoin(
        _ joined: LocalChannel, session: ConnectionStateMachine.Session, on shard: isolated GatewayShard
    ) {
        enter(joined, on: shard)
        guard let after = resumeAfter else {
            // The client did not ask for what it missed: whether something was is not known.
            finishResume(session, channel: joined.key.name, complete: false, on: shard)
            return joined.activate(self, after: joined.feed.last)
        }
        resumeAfter = nil
        readMissed(of: joined, after: ChannelPosition(sequence: 0, id: after), on: shard) { [self] page in
            finishResume(session, channel: joined.key.name, complete: page?.complete ?? false, on: shard)
            lastEventID = after
            showMissed(page, of: joined, on: shard)
        }
    }

    /// Goes on in a channel that was not left after all, with what was published meanwhile.
    private func goOn(in key: ChannelKey, after position: ChannelPosition?, on shard: isolated GatewayShard) {
        let former = shard.channel(key)
        guard let position else { return enter(former, activeAfter: former.feed.last, on: shard) }
        enter(former, on: shard)
        readMissed(of: former, after: position, on: shard) { [self] page in showMissed(page, of: former, on: shard) }
    }

    private func readMissed(
        of joined: LocalChannel, after position: ChannelPosition, on shard: isolated GatewayShard,
        _ finish: @escaping (ChannelLogPage?) -> Void
    ) {
        // What is published before the read is executed is in the log.
        membership?.holdAnew()
        shard.messages.readLog(joined.key, after: position) { [self] result in
            // The user may have left meanwhile, or joined anew.
            guard channel === joined, membership?.shownAfter == nil else { return }
            finish(try? result.get())
        }
    }

    /// Shows what a resumed client has missed, as fast as it takes it.
    private func showMissed(_ page: ChannelLogPage?, of joined: LocalChannel, on shard: isolated GatewayShard) {
        replay = Replay(
            channel: joined, events: page?.events[...] ?? [], next: page?.more == true ? page?.through : nil,
            activeAfter: page?.latest ?? joined.feed.last)
        continueReplay(on: shard)
    }

    /// The events of the session's channel cannot be had: rather than go on without them, the client is to try again.
    private func abandonResume(in key: ChannelKey, on shard: isolated GatewayShard) {
        guard machine.isActive else { return }
        GatewayMetrics.abandonedResumes.increment()
        shard.logger.warning(
            "a resume without its channel's events was abandoned", metadata: ["channel": "\(key.name)"])
        perform(machine.connectionLost(), on: shard)
        close(.goingAway, on: shard)
    }

    /// Goes on with what a resumed client has missed, page by page; then the channel goes on.
    func continueReplay(on shard: isolated GatewayShard) {
        while var current = replay, !outlet.output.isPaused {
            let joined = current.channel
            guard channel === joined, membership?.shownAfter == nil else {
                replay = nil
                return
            }
            let next = current.takeNext()
            if !next.isEmpty {
                replay = current
                joined.show(next, to: self)
                continue
            }
            replay = nil
            guard let position = current.next else { return joined.activate(self, after: current.activeAfter) }
            return readMissed(of: joined, after: position, on: shard) { [self] page in
                // What the client was told of completeness would be wrong: it resumes from where it is.
                guard let page, page.complete else { return abandonResume(in: joined.key, on: shard) }
                showMissed(page, of: joined, on: shard)
            }
        }
    }

    func leaveLocalChannel(on shard: isolated GatewayShard) {
        guard let left = channel else { return }
        left.remove(self)
        channel = nil
        membership = nil
        shard.releaseIfEmpty(left)
    }

    private func enter(_ joined: LocalChannel, on shard: isolated GatewayShard) {
        channel = joined
        membership = Membership()
        joined.add(self)
    }

    private func enter(_ joined: LocalChannel, activeAfter position: ChannelPosition?, on shard: isolated GatewayShard)
    {
        enter(joined, on: shard)
        joined.activate(self, after: position)
    }
}

/// The events that a resumed client has missed, and has yet to be shown.
struct Replay {
    /// Bytes of one write, or one event.
    private static let writeBytes = 65_536

    let channel: LocalChannel
    var events: ArraySlice<ChannelEvent>
    /// Where to read on after these; nil: there is no more.
    let next: ChannelPosition?
    /// The channel's own events follow above this; nil: all that is held.
    let activeAfter: ChannelPosition?

    /// Takes what is written at once.
    mutating func takeNext() -> [ChannelEvent] {
        var bytes = 0
        let next = events.prefix { event in
            bytes += event.approximateBytes
            return bytes <= Self.writeBytes
        }
        let count = max(next.count, min(1, events.count))
        defer { events = events.dropFirst(count) }
        return Array(events.prefix(count))
    }
}

extension ChannelEvent {
    /// What it takes on its way to a client, about.
    fileprivate var approximateBytes: Int {
        switch kind {
        case .message(let body): body.utf8.count + 256
        // An attribute is as long as a message at most.
        case .attributes(.update(let attribute)): attribute.value.utf8.count + 256
        case .attributes, .joined, .left: 256
        }
    }
}
