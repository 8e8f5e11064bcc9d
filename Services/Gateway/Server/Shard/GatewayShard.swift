internal import ClusterState
internal import CoreMetrics
internal import GatewayLogic
internal import Logging
internal import MessageStore
internal import NIOCore
internal import RedisStore
internal import SignalingProtocol
internal import SignalingWire
internal import WebSocketWire

/// One event loop's gateway: its connections, sessions and channels, and its own two connections to Redis.
///
/// Shards share nothing, so nothing here is locked and no delivery hops between threads; two users on two shards of one
/// process meet in Redis, as those on two machines do.
///
/// Its executor is the event loop, so that NIO's handlers enter it without a hop, by `assumeIsolated`. What it owns (its
/// connections, channels and links to Redis) is not `Sendable` and stays within its isolation.
actor GatewayShard {
    nonisolated let id: GatewayID
    nonisolated let eventLoop: any EventLoop
    nonisolated let unownedExecutor: UnownedSerialExecutor
    nonisolated let configuration: GatewayConfiguration
    nonisolated let logger: Logger
    nonisolated let redis: RedisConnection
    let messages: MessageStore
    let mailboxes: MailboxBatch
    let sender: CommandSender
    let apps: AppDirectory
    let environment: ShardEnvironment
    private let redisConfiguration: RedisConfiguration
    /// What is published to this shard and its channels.
    private lazy var subscriber = makeSubscriber()
    /// Counts what clients do by address, with the other shards.
    nonisolated let door: AddressDoor
    /// Sockets of clients, also those that are no WebSockets yet.
    private(set) var sockets = 0
    /// What waits for the clients.
    let output: OutputBudget
    private var leftRates = LeftRates()

    private(set) var connections: [ObjectIdentifier: ClientConnection] = [:]
    private(set) var sessions: [SessionID: ClientConnection] = [:]
    private(set) var channels: [ChannelKey: LocalChannel] = [:]
    private var topics: [Topic: LocalChannel] = [:]
    private var batched: [LocalChannel] = []
    private let ownTopic: Topic
    /// The frame that is being sent.
    private var frame = ByteBuffer()
    /// Payload of the current frame; valid until the next frame is parsed. All connections share it.
    var payload: [UInt8] = []

    /// Connections whose resume was asked for and not answered, so that a kick meanwhile reaches them.
    private var resuming: [SessionID: [ClientConnection]] = [:]
    var detaching = DetachQueue()
    /// What presence and channel-state are to be told of what is held here.
    var reassertion = Reassertion()
    /// Whether the names of the sessions here and in Redis are being compared, and whether they are to be with the next
    /// heartbeat.
    var isComparing = false
    var mustCompare = false
    /// Whether Redis was connected to before, and whether there was a lease.
    var wasConnected = false
    var hadLease = false
    var isDraining = false
    private var numberKeeping: RepeatedTask?
    private var sessionsMade = 0

    /// A topic's name compares by bytes, like all identifiers.
    private struct Topic: ByteIdentifier {
        let rawValue: String
    }

    init(
        id: GatewayID, eventLoop: any EventLoop, configuration: GatewayConfiguration,
        redis redisConfiguration: RedisConfiguration, door: AddressDoor,
        logger: Logger
    ) {
        self.id = id
        self.eventLoop = eventLoop
        unownedExecutor = eventLoop.executor.asUnownedSerialExecutor()
        self.configuration = configuration
        self.redisConfiguration = redisConfiguration
        self.door = door
        output = OutputBudget(bound: configuration.shardOutputBound)
        var logger = logger
        logger[metadataKey: "gateway"] = "\(id)"
        self.logger = logger
        redis = RedisConnection(
            configuration: redisConfiguration, eventLoop: eventLoop,
            libraries: [.messages, .leases, .streams],
            logger: logger)
        messages = MessageStore(connection: redis)
        mailboxes = MailboxBatch(connection: redis, gateway: id)
        sender = CommandSender(sender: AskerID(id), connection: redis, logger: logger)
        apps = AppDirectory(sender: sender)
        environment = ShardEnvironment(configuration, clock: redis.clock)
        ownTopic = Topic(rawValue: KeySpace.topic(id))
    }

    /// Unowned, as what a weak reference points to is slower to retain.
    private func makeSubscriber() -> RedisSubscriber {
        RedisSubscriber(
            configuration: redisConfiguration, onLoop: eventLoop, logger: logger,
            onMessage: { [unowned self] topic, payload in received(Topic(rawValue: topic), payload) },
            onBatchEnd: { [unowned self] in flushChannels() },
            onReconnected: { [unowned self] in resynchronize() })
    }

    // MARK: - Connections and sessions

    /// Counts a client's socket, which is to be given back by ``socketClosed()``.
    /// - Returns: false when there are too many: it is not counted.
    func takeSocket() -> Bool {
        guard sockets < configuration.connectionBound + configuration.handshakeBound else { return false }
        sockets += 1
        return true
    }

    /// A socket that was counted is no more.
    func socketClosed() { sockets -= 1 }

    /// Takes a new connection in.
    /// - Returns: false when the bound is hit.
    func admit(_ connection: ClientConnection) -> Bool {
        guard connections.count < configuration.connectionBound else { return false }
        connections[ObjectIdentifier(connection)] = connection
        return true
    }

    func remove(_ connection: ClientConnection) { connections[ObjectIdentifier(connection)] = nil }

    /// Binds a session to a connection; an older connection of the same session is dropped silently.
    func bind(_ session: SessionID, to connection: ClientConnection) {
        detaching.bound(session)
        let older = sessions.updateValue(connection, forKey: session)
        if let older, older !== connection { older.handle(.superseded(.silent), on: self) }
    }

    /// Unbinds a session, unless another connection has taken it over.
    /// - Returns: whether it was this connection's.
    @discardableResult
    func unbind(_ session: SessionID, from connection: ClientConnection) -> Bool {
        guard sessions[session] === connection else { return false }
        sessions[session] = nil
        return true
    }

    /// Remembers a connection that waits to take a session over.
    func awaitResume(of session: SessionID, on connection: ClientConnection) {
        resuming[session, default: []].append(connection)
    }

    /// The resume was answered, and where it succeeded the session bound.
    func resumeAnswered(of session: SessionID, on connection: ClientConnection) {
        resuming[session]?.removeAll { $0 === connection }
        if resuming[session]?.isEmpty == true { resuming[session] = nil }
        guard !isResuming(session) else { return }
        detaching.resumeEnded(session)
        tellDetached()
    }

    /// Whether a connection here waits to take the session over.
    func isResuming(_ session: SessionID) -> Bool { resuming[session] != nil }

    /// What a new session's line has.
    func nameSession() -> (session: SessionID, secret: String) {
        sessionsMade += 1
        return (SessionID("\(id)-\(String(sessionsMade, radix: 36))"), SecureRandom.hex(bytes: 16))
    }

    /// Sends one frame, framed in a buffer that all connections share.
    func send(_ opcode: WebSocketOpcode, _ payload: [UInt8], to outlet: FrameOutlet, isAnswer: Bool = false) {
        // A large one's memory is given back.
        if frame.capacity > 1 << 16 { frame = ByteBuffer() } else { frame.clear() }
        frame.writeWebSocketFrame(opcode, payload)
        outlet.send(frame, isAnswer: isAnswer)
    }

    /// Remembers how much of its rates a session has used whose connection is gone.
    func keep(_ rates: SessionRates, of session: SessionID) {
        leftRates.keep(rates, of: session, now: NIODeadline.now().uptimeNanoseconds)
    }

    /// What a session that is resumed has left of its rates; nil when nothing is known of it.
    func leftRates(of session: SessionID) -> SessionRates? { leftRates.take(session) }

    // MARK: - Channels

    /// The channel as this shard knows it; subscribes when it is the first to ask, or when that has failed before.
    func channel(_ key: ChannelKey) -> LocalChannel {
        let topic = Topic(rawValue: KeySpace.topic(key))
        let channel = channels[key] ?? LocalChannel(key: key)
        channels[key] = channel
        topics[topic] = channel
        guard channel.beginsSubscription() else { return channel }
        subscriber.subscribe(topic.rawValue) { result in
            switch result {
            case .success: channel.subscribed(true)
            case .failure: channel.subscribed(false)
            }
        }
        return channel
    }

    /// Forgets the channel when nobody here is in it.
    func releaseIfEmpty(_ channel: LocalChannel) {
        guard channel.fanout.members.isEmpty, !channel.hasWaiters, channels[channel.key] === channel else { return }
        let topic = Topic(rawValue: KeySpace.topic(channel.key))
        channels[channel.key] = nil
        topics[topic] = nil
        subscriber.unsubscribe(topic.rawValue)
    }

    /// Whether both connections to Redis stand.
    var isConnected: Bool { redis.isConnected && subscriber.isConnected }

    // MARK: - Events

    private func received(_ topic: Topic, _ payload: ByteBuffer) {
        do {
            // Plain ASCII, so that texts compare as bytes do, and faster.
            if topic.rawValue == ownTopic.rawValue {
                handle(try payload.withBytes(GatewayEvent.decode).get())
            } else if let channel = topics[topic] {
                let event = try payload.withBytes(ChannelEvent.decode).get()
                perform(channel.feed.received(event), in: channel)
            }
        } catch {
            logger.error("an event could not be read", metadata: ["topic": "\(topic)", "error": "\(error)"])
        }
    }

    private func handle(_ event: GatewayEvent) {
        switch event {
        case .reply(let command, let outcome):
            sender.received(command, outcome)
        case .mail(let deliveries):
            // An unknown session's connection was lost and its detaching is under way: the entry waits in the mailbox.
            for delivery in deliveries {
                sessions[delivery.session]?.handle(.mail(delivery.entry, after: delivery.previous), on: self)
            }
        case .kicked(let session, let code):
            supersede(session, .closeFrame(code))
        case .moved(let session):
            supersede(session, .silent)
        }
    }

    private func supersede(_ session: SessionID, _ ending: ConnectionStateMachine.Ending) {
        for connection in resuming.removeValue(forKey: session) ?? [] {
            connection.handle(.superseded(ending), on: self)
        }
        sessions[session]?.handle(.superseded(ending), on: self)
    }

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

    /// Reads what a channel's feed lacks, unless nobody here is in the channel any more.
    private func readLog(of channel: LocalChannel, after position: ChannelPosition) {
        guard channels[channel.key] === channel else { return }
        messages.readLog(channel.key, after: position) { [self] result in
            let page = try? result.get()
            let resets = channel.feed.resets
            let action = channel.feed.filled(page)
            if channel.feed.resets != resets {
                GatewayMetrics.channelResets.increment()
                logger.warning(
                    "Redis came back without channel events that it had told of",
                    metadata: ["channel": "\(channel.key.name)"])
            }
            if page?.complete == false {
                GatewayMetrics.channelGaps.increment()
                logger.warning("channel events are missing", metadata: ["channel": "\(channel.key.name)"])
            }
            perform(action, in: channel)
            flushChannels()
        }
    }

    private func flushChannels() {
        guard !batched.isEmpty else { return }
        let channels = batched
        batched = []
        for channel in channels { channel.endCollecting(on: self) }
    }

    /// Begins to connect to Redis.
    func start() {
        redis.onConnected { [unowned self] in assumeIsolated { $0.redisConnected() } }
        redis.start()
        subscriber.start()
        numberKeeping = eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .seconds(1)) { [messages] _ in
            messages.keepNumbers()
        }
    }

    /// Subscribes to the shard's own topic: no answer would come before.
    /// - Returns: false when it was not confirmed in time.
    func subscribeToOwnTopic() async throws -> Bool {
        try await withCheckedThrowingContinuation { subscribed in
            subscriber.subscribe(ownTopic.rawValue) { result in
                switch result {
                case .success: subscribed.resume(returning: true)
                case .failure(let error) where error.code == .timeout: subscribed.resume(returning: false)
                case .failure(let error): subscribed.resume(throwing: error)
                }
            }
        }
    }

    /// Ends the connections to Redis.
    func stop() async {
        numberKeeping?.cancel()
        await subscriber.close()
        await redis.close()
    }

    /// Called when publications may have been lost: reads what was missed.
    private func resynchronize() {
        for channel in channels.values { perform(channel.feed.resynchronize(), in: channel) }
        for connection in sessions.values { connection.handle(.resynchronizeMailbox, on: self) }
        sender.resendPending()
        // A kick or a move may be among what was lost.
        reconcile()
    }
}
