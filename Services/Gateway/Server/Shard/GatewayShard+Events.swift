internal import BusProtocol
internal import ClusterBus
internal import GatewayLogic
internal import Logging
internal import MessageStore
internal import NIOCore
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol
internal import SignalingWire

/// The events that Redis publishes to the shard and its channels.
extension GatewayShard {
    func received(_ topic: Topic, _ payload: ByteBuffer) {
        do {
            // The topic is plain ASCII, so strings compare like bytes, and faster.
            if topic.rawValue == ownTopic.rawValue {
                try receivedOwn(payload)
            } else if let channel = topics[topic] {
                switch try payload.withBytes(ChannelPublication.decode).get() {
                case .event(let event):
                    perform(channel.feed.received(event), in: channel)
                case .unknown(let position):
                    GatewayMetrics.shared.unknownEvents.increment()
                    perform(channel.feed.skipped(at: position), in: channel)
                }
            } else if ownTopics.contains(topic) {
                try receivedOwn(payload)
            }
        } catch {
            logger.error("could not decode an event", metadata: ["topic": "\(topic)", "error": "\(error)"])
        }
    }

    private func receivedOwn(_ payload: ByteBuffer) throws {
        guard let event = try payload.withBytes(GatewayEvent.decode).get() else {
            return GatewayMetrics.shared.unknownEvents.increment()
        }
        handle(event)
    }

    private func handle(_ event: GatewayEvent) {
        switch event {
        case .reply(let command, let outcome):
            sender.received(command, outcome)
        case .mail(let deliveries): deliver(deliveries)
        case .kicked(let session, let code):
            supersede(session, .closeFrame(code))
        case .moved(let session):
            supersede(session, .silent)
        case .removed(let session, let removal):
            removed(session, by: removal)
        case .media(let publication): tell(publication)
        case .trace(let order): follow(order)
        }
    }

    private func deliver(_ deliveries: [MailDelivery]) {
        gatherer.gather {
            for delivery in deliveries {
                tell(.published(delivery.entry, after: delivery.previous), to: delivery.session)
            }
        }
    }

    /// Tells a session of its mailbox. For an unknown session, the connection was lost and its detach is in progress:
    /// the entry waits in the mailbox.
    private func tell(_ news: SessionEvent.Mailbox, to session: SessionID) {
        sessions[session]?.handle(.mailbox(news), on: self)
        guard !resuming.isEmpty, let connections = resuming[session] else { return }
        // The answers that they wait for may say that the mailbox was empty.
        for connection in connections { connection.handle(.mailbox(news), on: self) }
    }

    /// Takes what messages that were sent here mean for the shard's own sessions.
    func received(_ own: OwnMail) {
        deliver(own.deliveries)
        for (session, version) in own.latest { tell(.latest(version), to: session) }
        doubt(own.doubtful)
    }

    /// Reads the mailboxes of these users' sessions again. While Redis does not answer, many calls fail; the users of
    /// ``gatheringTime`` are looked for together, because sessions are not kept by user.
    private func doubt(_ users: [UserKey]) {
        guard !users.isEmpty else { return }
        let isGathering = !doubtful.isEmpty
        doubtful.formUnion(users)
        guard !isGathering else { return }
        eventLoop.assumeIsolated().scheduleTask(in: Self.gatheringTime) { [self] in
            let users = doubtful
            doubtful = []
            for connection in Array(sessions.values) + resuming.values.joined() {
                // One that is logging in or resuming, too: its mailbox may have been empty before.
                guard let user = connection.session.subject, users.contains(user) else { continue }
                connection.handle(.mailbox(.resynchronize), on: self)
            }
        }
    }

    /// Called when publications in these slots may have been lost: reads what was missed. While slots move or a master
    /// is replaced, many reads of sockets renew topics; those of ``gatheringTime`` are handled together.
    func resynchronize(_ slots: SlotScope) {
        guard slots != .all else { return renew(.all) }
        let isGathering = renewed != .none
        renewed.formUnion(slots)
        guard !isGathering else { return }
        eventLoop.assumeIsolated().scheduleTask(in: Self.gatheringTime) { [self] in
            let slots = renewed
            renewed = .none
            renew(slots)
            flushChannels()
        }
    }

    private static let gatheringTime = TimeAmount.milliseconds(250)

    private func renew(_ slots: SlotScope) {
        for channel in channels(in: slots) { perform(channel.feed.resynchronize(), in: channel) }
        for session in sessions(in: slots) { sessions[session]?.handle(.mailbox(.resynchronize), on: self) }
        for connection in resuming.values.joined() { connection.handle(.mailbox(.resynchronize), on: self) }
        sender.resendPending(slots)
        // A kick or a move may have been lost.
        reconcile(slots)
    }

    // MARK: - A channel's feed

    private func perform(_ action: ChannelFeed.Action, in channel: LocalChannel) {
        switch action {
        case .deliver(let events):
            if channel.collect(events) { batched.append(channel) }
        case .readLog(let after):
            readLog(of: channel, after: after)
        case .deliverAndRead(let events, let after):
            if channel.collect(events) { batched.append(channel) }
            readLog(of: channel, after: after)
        case .readLater(let after):
            eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(.random(in: 200...1000))) { [self] in
                readLog(of: channel, after: after)
            }
        case .none:
            break
        }
    }

    /// Reads the events that a channel's feed lacks, unless the channel has no members in this shard any more.
    private func readLog(of channel: LocalChannel, after position: ChannelPosition) {
        guard channels[channel.key] === channel else { return }
        messages.readLog(channel.key, after: position) { [self] result in
            let page = try? result.get()
            let resets = channel.feed.resets
            let action = channel.feed.filled(page)
            if channel.feed.resets != resets {
                GatewayMetrics.shared.channelResets.increment()
                logger.warning(
                    "Redis has lost channel events: sequence numbers went back",
                    metadata: ["channel": "\(channel.key.name)"])
            }
            if page?.complete == false {
                GatewayMetrics.shared.channelGaps.increment()
                logger.warning(
                    "channel events are lost: the log no longer has them", metadata: ["channel": "\(channel.key.name)"])
            }
            perform(action, in: channel)
            flushChannels()
        }
    }

    /// Called at the end of a read from Redis: writes its events to the channels' members.
    func flushChannels() {
        guard !batched.isEmpty else { return }
        let channels = batched
        batched = []
        for channel in channels { channel.endCollecting(on: self) }
    }
}
