internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import GatewayLogic
internal import Logging
internal import MessageStore
internal import NIOCore
internal import Pacing
internal import RedisClient
internal import SignalingProtocol
internal import Synchronization
internal import WebSocketWire

/// The gateway of one event loop: its connections, sessions and channels, and its own two connections to Redis.
///
/// Shards share nothing, so nothing here is locked and no delivery changes threads. Two users on two shards of one
/// process reach each other through Redis, like users on two machines.
///
/// Its executor is the event loop, so that NIO's handlers enter it directly, by `assumeIsolated`. What it owns (its
/// connections, channels and links to Redis) is not `Sendable` and stays within its isolation.
actor GatewayShard {
    nonisolated let id: GatewayID
    nonisolated let eventLoop: any EventLoop
    nonisolated let unownedExecutor: UnownedSerialExecutor
    nonisolated let configuration: GatewayConfiguration
    nonisolated let logger: Logger
    nonisolated let redis: RedisClient
    let messages: MessageStore
    let mailboxes: MailboxBatch
    let sender: CommandSender
    let apps: AppDirectory
    /// Asks apps' servers.
    let hooks: HookDesk
    /// Who is told of apps' messages. Kept while an app has connections here, also when its settings cannot be
    /// read any more: no message may be left out.
    var messageEvents: [AppID: MessageEvents] = [:]
    /// Counts what apps use here.
    let usage: AppUsage
    let environment: ShardEnvironment
    /// Receives publications for this shard and its channels.
    private lazy var subscriber = makeSubscriber()
    /// Subscribes to ``ownTopics`` at the start. What waits for a reply on a topic that comes late is sent again.
    private lazy var replyTopics = makeReplyTopics()
    /// Counts connections and failed logins by address, together with the other shards.
    nonisolated let addressLimiter: AddressLimiter
    /// Whether the shard has begun to accept clients: replies reach it, and it has had its lease.
    nonisolated let acceptsClients = Atomic<Bool>(false)
    /// The number of clients' sockets, including those that are not WebSockets yet.
    private(set) var sockets = 0
    /// The output that waits for all clients.
    let output: OutputBudget
    /// Writes channels' events to the members.
    let lanes: LaneWriter
    /// Why ``lanes`` could not have a ring at the start; nil where they have one, or the settings want none.
    private(set) var ringRefusal: LaneWriter.SystemError?
    /// Sends what arises together for many clients.
    let gatherer: FrameGatherer
    private var detachedRates = DetachedRates()
    /// The users whom somebody follows.
    var traced = TracedUsers()

    private(set) var connections: [ObjectIdentifier: ClientConnection] = [:]
    private(set) var sessions: [SessionID: ClientConnection] = [:]
    private(set) var channels: [ChannelKey: LocalChannel] = [:]
    /// The connections of participants in media channels.
    var participants: [ParticipantID: ClientConnection] = [:]
    /// The media nodes that are alive.
    var mediaNodes = MediaNodes()
    /// What waits for the list of media nodes.
    var awaitingMediaNodes: [() -> Void] = []
    /// The sessions by the slot of their users, without those of ``unplaced``.
    private var placed = SlotIndex<SessionID>()
    /// The sessions whose users were not known when they were registered.
    private var unplaced: Set<SessionID> = []
    /// The channels by their slots.
    private var channelPlaces = SlotIndex<ChannelKey>()
    /// The sessions whose joins are not answered, by the slots of the channels.
    private var joining = SlotIndex<SessionID>()
    /// The slots whose topics have been renewed, as far as what was missed there has not been read.
    var renewed = SlotScope.none
    var topics: [Topic: LocalChannel] = [:]
    /// Channels with events of the current read from Redis.
    var batched: [LocalChannel] = []
    /// The shard's topic on a single Redis; in a cluster one of its topics.
    let ownTopic: Topic
    /// All topics of the shard itself.
    let ownTopics: Set<Topic>
    /// Users whose mailboxes may have entries of which nobody tells, until they are read again.
    var doubtful: Set<UserKey> = []
    /// The frame that is being sent.
    private var frame = ByteBuffer()
    /// Payload of the current frame; valid until the next frame is parsed. All connections share it.
    var payload: [UInt8] = []

    /// Connections waiting for the answer to a resume, so that a kick or news of the mailbox that arrives meanwhile
    /// reaches them.
    private(set) var resuming: [SessionID: [ClientConnection]] = [:]
    /// A login or a resume that waits for its turn: called with a ticket when that has come, or with nil when it comes
    /// too late.
    typealias WaitingLogin = (LoginTicket?) -> Void
    var logins = LoginQueue<WaitingLogin>()
    /// Whether turns are being taken, and whether they are taken at a later time, see `GatewayShard+Logins`.
    var (isTakingTurns, takesTurnsLater) = (false, false)
    var detaching = DetachQueue()
    /// The sessions and members that must be reasserted to presence and channel-state.
    var reassertion = Reassertion()
    /// The sessions that lost their connections here a short time ago.
    var detachedSessions = DetachedSessions()
    /// The sessions of ``detachedSessions`` that must be reasserted, with their memberships.
    var detachedReassertion = Reassertion()
    /// The comparison of this shard's sessions with those of Redis that is in progress.
    var comparison: RouteComparison?
    /// The slots whose sessions are still to be compared, at the next heartbeat or when the present comparison ends.
    var uncompared = SlotScope.none
    /// Whether the shard holds its leases, and its sessions may send messages.
    var senders: SenderTrust
    /// What the answers to joins list.
    var memberLists = MemberLists()
    /// When the last heartbeat was sent of which an answer has come.
    var lastHeartbeat: LocalTime?
    private var numberKeeping: RepeatedTask?
    private var sessionNames = SessionNames()
    private var throttles: [OftenLogged: LogThrottle] = [:]

    /// Topics are compared by bytes, like all identifiers.
    struct Topic: ByteIdentifier {
        let rawValue: String
    }

    init(id: GatewayID, eventLoop: any EventLoop, process: GatewayProcess) {
        self.id = id
        self.eventLoop = eventLoop
        unownedExecutor = eventLoop.executor.asUnownedSerialExecutor()
        configuration = process.configuration
        addressLimiter = process.addressLimiter
        output = OutputBudget(bound: configuration.shardOutputBound)
        var logger = process.logger
        logger[metadataKey: "gateway"] = "\(id)"
        self.logger = logger
        lanes = LaneWriter { [logger] error in
            logger.warning(
                "the ring has failed; each send is a system call from now on", metadata: ["error": "\(error)"])
        }
        gatherer = FrameGatherer(lanes)
        redis = RedisClient(
            configuration: process.redis, eventLoop: eventLoop,
            libraries: [.messages, .leases, .streams, .instances] + (configuration.api == nil ? [] : [.api]),
            logger: logger)
        messages = MessageStore(connection: redis)
        mailboxes = MailboxBatch(connection: redis, gateway: id) { [gatherer] in gatherer.gather($0) }
        sender = CommandSender(
            sender: .gateway(id), connection: redis, logger: logger, level: process.level)
        apps = AppDirectory(sender: sender)
        usage = AppUsage(of: id, sender: sender, logger: logger)
        hooks = HookDesk(transport: process.hooks, eventLoop: eventLoop, logger: logger)
        environment = ShardEnvironment(configuration, redis: redis)
        senders = SenderTrust(
            leases: GatewayID.fleet.leases(in: redis.bus), leaseTime: LocalTime.Span(GatewayID.fleet.timeToLive),
            partitions: redis.bus.partitions.count, isNeeded: redis.bus.flavour != .single)
        let names = redis.bus.topics(of: id)
        ownTopic = Topic(rawValue: names[0])
        ownTopics = Set(names.map(Topic.init(rawValue:)))
    }

    /// Unowned, because the target of a weak reference is slower to retain.
    private func makeSubscriber() -> ClusterSubscriber {
        ClusterSubscriber(
            onLoopOf: redis, logger: logger,
            callbacks: .init(
                onMessage: { [unowned self] topic, payload in received(Topic(rawValue: topic), payload) },
                onBatchEnd: { [unowned self] in flushChannels() },
                onReconnected: { [unowned self] slots in resynchronize(slots) }))
    }

    private func makeReplyTopics() -> OwnTopics {
        OwnTopics(
            ownTopics.map(\.rawValue), of: subscriber, on: redis,
            onLate: { [unowned self] slot in resynchronize(.slots([slot])) })
    }

    // MARK: - Connections and sessions

    /// Counts a client's socket; ``socketClosed()`` must follow.
    /// - Returns: false when there are too many; the socket is not counted then.
    func takeSocket() -> Bool {
        guard sockets < configuration.connectionBound + configuration.handshakeBound else { return false }
        sockets += 1
        return true
    }

    /// Called when a counted socket was closed.
    func socketClosed() { sockets -= 1 }

    /// Adds a new connection.
    /// - Returns: false when the bound is reached.
    func admit(_ connection: ClientConnection) -> Bool {
        guard connections.count < configuration.connectionBound else { return false }
        connections[ObjectIdentifier(connection)] = connection
        return true
    }

    func remove(_ connection: ClientConnection) { connections[ObjectIdentifier(connection)] = nil }

    /// Registers a session for a connection, and closes an older connection of the session without a `close` frame.
    func bind(_ session: SessionID, to connection: ClientConnection) {
        detaching.bound(session)
        detachedSessions.forget(session)
        unplaced.insert(session)
        let older = sessions.updateValue(connection, forKey: session)
        if let older, older !== connection { older.handle(.session(.superseded(.silent)), on: self) }
    }

    /// Removes a session's registration, unless another connection has taken the session over.
    /// - Returns: whether it was registered for this connection.
    @discardableResult
    func unbind(_ session: SessionID, from connection: ClientConnection) -> Bool {
        guard sessions[session] === connection else { return false }
        sessions[session] = nil
        unplaced.remove(session)
        placed.remove(session)
        joining.remove(session)
        return true
    }

    /// The sessions of users in these slots, and those that are not logged in yet.
    func sessions(in slots: SlotScope) -> [SessionID] {
        for session in unplaced {
            guard let user = sessions[session]?.session.user else { continue }
            unplaced.remove(session)
            placed.insert(session, slot: KeySpace.slot(of: .user(user)))
        }
        return placed.elements(in: slots) + unplaced
    }

    /// A session asks channel-state to make it a member: what becomes of that may be lost with the channel's master.
    func joinBegan(of session: SessionID, in channel: ChannelKey) {
        joining.insert(session, slot: KeySpace.slot(of: .channel(channel)))
    }

    /// Called when ``joinBegan(of:in:)`` was answered: the session is a member now, or it asks again.
    func joinAnswered(of session: SessionID) { joining.remove(session) }

    /// The sessions in these slots whose joins are not answered.
    func sessionsJoining(in slots: SlotScope) -> [SessionID] { joining.elements(in: slots) }

    /// The channels in these slots that have members here.
    func channels(in slots: SlotScope) -> [LocalChannel] {
        channelPlaces.elements(in: slots).compactMap { channels[$0] }
    }

    /// Records that a connection waits for the answer to a resume.
    func awaitResume(of session: SessionID, on connection: ClientConnection) {
        resuming[session, default: []].append(connection)
    }

    /// Called when the resume was answered, after a successful one has registered the session.
    func resumeAnswered(of session: SessionID, on connection: ClientConnection) {
        resuming[session]?.removeAll { $0 === connection }
        if resuming[session]?.isEmpty == true { resuming[session] = nil }
        guard !isResuming(session) else { return }
        detaching.resumeEnded(session)
        tellDetached()
    }

    /// Whether a connection of this shard is resuming the session.
    func isResuming(_ session: SessionID) -> Bool { resuming[session] != nil }

    /// Generates the id and the secret of a new session.
    func nameSession() -> (session: SessionID, secret: String) {
        (sessionNames.next(), SecureRandom.hex(bytes: Line.secretBytes))
    }

    /// Sends one frame, encoded in a buffer that all connections share.
    func send(_ opcode: WebSocketOpcode, _ payload: [UInt8], to outlet: FrameOutlet, isAnswer: Bool = false) {
        // The memory of a large frame is freed.
        if frame.capacity > 1 << 16 { frame = ByteBuffer() } else { frame.clear() }
        frame.writeWebSocketFrame(opcode, payload)
        gatherer.send(frame, to: outlet, isAnswer: isAnswer)
    }

    /// Logs what clients without an account can cause, once a second for each kind.
    func logOften(
        _ kind: OftenLogged, _ message: Logger.Message, _ metadata: @autoclosure () -> Logger.Metadata
    ) {
        guard let skipped = throttles[kind, default: LogThrottle()].admit(now: .now) else { return }
        var metadata = metadata()
        if skipped > 0 { metadata["more"] = "\(skipped)" }
        logger.log(level: kind.level, message, metadata: metadata)
    }

    /// Keeps the rates of a session whose connection has ended.
    func keep(_ rates: SessionRates, of session: SessionID) {
        detachedRates.keep(rates, of: session, now: .now)
    }

    /// Removes and returns the rates of a session that is resumed; nil when none are kept.
    func takeRates(of session: SessionID) -> SessionRates? { detachedRates.take(session) }

    // MARK: - Channels

    /// The channel in this shard. Subscribes to it on the first request, or when an earlier subscription has failed.
    func channel(_ key: ChannelKey) -> LocalChannel {
        let topic = Topic(rawValue: KeySpace.topic(key))
        let channel = channels[key] ?? LocalChannel(key: key, longestPause: environment.longestChannelPause)
        if channels.updateValue(channel, forKey: key) == nil {
            channelPlaces.insert(key, slot: KeySpace.slot(of: .channel(key)))
        }
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

    /// Removes a channel without members in this shard.
    func releaseIfEmpty(_ channel: LocalChannel) {
        guard channel.fanout.members.isEmpty, !channel.hasWaiters, channels[channel.key] === channel else { return }
        let topic = Topic(rawValue: KeySpace.topic(channel.key))
        channels[channel.key] = nil
        channelPlaces.remove(channel.key)
        topics[topic] = nil
        subscriber.unsubscribe(topic.rawValue)
    }

    /// Whether the shard can use Redis: for commands and for events.
    var redisReadiness: RedisReadiness {
        var state = redis.readiness
        if !subscriber.isConnected {
            state = RedisReadiness(isReady: false, problem: state.problem ?? "not connected")
        }
        return state
    }

    /// Ends the connections of a session that was taken over or ended elsewhere.
    func supersede(_ session: SessionID, _ ending: ConnectionStateMachine.Ending) {
        detachedSessions.forget(session)
        for connection in resuming.removeValue(forKey: session) ?? [] {
            connection.handle(.session(.superseded(ending)), on: self)
        }
        sessions[session]?.handle(.session(.superseded(ending)), on: self)
    }

    /// Tells those who have a session, or are resuming it, that the app has removed it from a channel.
    func removed(_ session: SessionID, by removal: ChannelRemoval) {
        for connection in resuming[session] ?? [] { connection.handle(.channel(.removed(removal)), on: self) }
        sessions[session]?.channel?.writeMessages(on: self)
        sessions[session]?.handle(.channel(.removed(removal)), on: self)
    }

    /// Starts to connect to Redis.
    func start() {
        startRing()
        apps.onRenewed = { [unowned self] app, settings in adopt(settings, of: app) }
        mailboxes.onOwn = { [unowned self] in received($0) }
        redis.onConnected { [unowned self] slots in assumeIsolated { $0.redisConnected(slots) } }
        redis.start()
        subscriber.start()
        numberKeeping = eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .seconds(1)) { [messages] _ in
            messages.keepNumbers()
        }
    }

    private func startRing() {
        guard configuration.usesRing else { return }
        do throws(LaneWriter.SystemError) { try lanes.makeRing() } catch { ringRefusal = error }
    }

    /// Subscribes to the shard's own topics, without which no reply would arrive.
    /// - Returns: false when too few were confirmed in time, see ``OwnTopics/subscribe(_:)``.
    func subscribeToOwnTopics() async throws -> Bool {
        try await withCheckedThrowingContinuation { subscribed in
            replyTopics.subscribe { subscribed.resume(with: $0) }
        }
    }

    /// Closes the connections to Redis.
    func stop() async {
        numberKeeping?.cancel()
        await subscriber.close()
        await redis.close()
    }
}
