internal import DequeModule
internal import Logging
internal import NIOCore

/// The connection of a ``ClusterSubscriber`` to one master.
///
/// Belongs to its event loop; everything here runs on it.
final class ShardLink {
    /// What a link tells its subscriber.
    protocol Owner: AnyObject {
        func linkOpened(to master: NodeAddress)
        func linkClosed(to master: NodeAddress)
        func message(_ topic: String, _ payload: ByteBuffer)
        /// The messages of one read of the socket have been passed on.
        func batchEnded()
        func confirmed(_ topic: String, by master: NodeAddress)
        /// The server has ended a subscription by itself.
        func ended(_ topic: String, by master: NodeAddress)
        /// The server has refused SSUBSCRIBE for topics of this slot.
        func refused(_ slot: UInt16, by master: NodeAddress, _ error: RedisError)
    }

    /// A command that has not been answered in full.
    private enum Sent {
        case subscribe(slot: UInt16, missing: Int)
        case unsubscribe(topic: String)
    }

    /// The largest number of topics in one command: few enough not to block the server for long.
    private static let topicsPerCommand = 500

    private let master: NodeAddress
    private let link: RedisLink
    private let silence: TimeAmount
    private unowned let owner: any Owner
    private var sent: Deque<Sent> = []
    private var outgoing = ByteBuffer()
    private var flushScheduled = false
    private var watch = SilenceWatch()

    init(
        master: NodeAddress, configuration: RedisConfiguration, owner: any Owner, eventLoop: any EventLoop,
        logger: Logger
    ) {
        self.master = master
        self.owner = owner
        silence = TimeAmount(configuration.subscriberIdleTimeout)
        var logger = logger
        logger[metadataKey: "node"] = "\(master)"
        link = RedisLink(
            configuration: configuration, eventLoop: eventLoop, libraries: [], asksTime: false, logger: logger)
    }

    var isUp: Bool { link.isUp }

    func start() { link.start(owner: self) }

    func close() { link.close() }

    /// Sends SSUBSCRIBE for topics of one slot, while the link is up.
    func subscribe(_ topics: [String], slot: UInt16) {
        var rest = topics[...]
        while !rest.isEmpty {
            let some = rest.prefix(Self.topicsPerCommand)
            rest = rest.dropFirst(Self.topicsPerCommand)
            sent.append(.subscribe(slot: slot, missing: some.count))
            write(RedisCommand("SSUBSCRIBE", arguments: some.map { .string($0) }))
        }
    }

    /// Sends SUNSUBSCRIBE, while the link is up.
    func unsubscribe(_ topic: String) {
        sent.append(.unsubscribe(topic: topic))
        write(RedisCommand("SUNSUBSCRIBE", .string(topic)))
    }

    /// To be called once a second: sends PING after some silence, and reconnects when nothing at all comes back.
    func check() {
        guard link.isUp else { return }
        switch watch.check(.now(), silence: silence) {
        case .nothing: break
        case .ping: write(RedisCommand("PING"))
        case .reconnect: link.drop(.timeout)
        }
    }

    private func write(_ command: RedisCommand) {
        command.encode(into: &outgoing)
        guard !flushScheduled else { return }
        flushScheduled = true
        link.eventLoop.assumeIsolated().execute {
            self.flushScheduled = false
            if self.link.isUp, self.outgoing.readableBytes > 0 { self.link.write(self.outgoing) }
            self.outgoing.clear()
        }
    }

    private func confirmed(_ topic: String) {
        guard case .subscribe(let slot, let missing) = sent.first else {
            return link.drop(RedisError(code: .malformed, message: "received a confirmation of no SSUBSCRIBE"))
        }
        if missing == 1 { sent.removeFirst() } else { sent[0] = .subscribe(slot: slot, missing: missing - 1) }
        owner.confirmed(topic, by: master)
    }

    private func ended(_ topic: String) {
        if case .unsubscribe(topic) = sent.first {
            sent.removeFirst()
        } else {
            owner.ended(topic, by: master)
        }
    }
}

extension ShardLink: RedisLinkOwner {
    func makeBuilder() -> ReplyBuilder {
        let builder = PushBuilder()
        // What a socket has read is parsed to the end, even if the owner closes the link meanwhile. Strong:
        // the builder goes with the socket.
        builder.onMessage = { topic, payload in
            if self.link.isUp { self.owner.message(topic, payload) }
        }
        builder.onConfirmation = { topic, subscribed in
            guard self.link.isUp else { return }
            if subscribed { self.confirmed(topic) } else { self.ended(topic) }
        }
        return builder
    }

    func linkUp() {
        watch.connected()
        owner.linkOpened(to: master)
    }

    func linkDown(_ error: RedisError) {
        sent.removeAll()
        outgoing.clear()
        owner.linkClosed(to: master)
    }

    func linkReceived(_ reply: RedisValue) {
        // Anything but a push message is the refusal of the oldest command.
        guard case .error(let error) = reply, let oldest = sent.first else { return }
        // With one exception: the server may end a topic while our SUNSUBSCRIBE is on its way. We then take that
        // message for the answer to SUNSUBSCRIBE. The real answer is MOVED; it names the slot of that topic, not the
        // slot of the oldest command.
        if error.code == .moved, case .subscribe(let slot, _) = oldest, !error.message.hasPrefix("\(slot) ") { return }
        sent.removeFirst()
        if case .subscribe(let slot, _) = oldest { owner.refused(slot, by: master, error) }
    }

    func linkHeard(time: RedisValue, askedAt: ContinuousClock.Instant) {}

    func linkReadEnded() {
        watch.heard()
        owner.batchEnded()
    }
}
