internal import ClusterState
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// What a ``RedisLink`` tells its owner; always on the link's event loop.
protocol RedisLinkOwner: AnyObject {
    /// Makes the parser of a new socket; replies that come while the link is up go where the owner points it.
    func makeBuilder() -> ReplyBuilder
    /// A reply came.
    func linkReceived(_ reply: RedisValue)
    /// The answer to TIME, asked with each handshake where the link was made to.
    func linkHeard(time: RedisValue, askedAt: ContinuousClock.Instant)
    /// All that one read of the socket brought was handed over.
    func linkReadEnded()
    /// Connected, entered, libraries loaded.
    func linkUp()
    /// The connection that was up is gone.
    func linkDown(_ error: RedisError)
}

/// One socket to Redis that renews itself. Drives ``LinkStateMachine``.
///
/// Belongs to ``eventLoop``, on which everything here happens; what NIO calls back enters through a check of the loop.
final class RedisLink {
    let eventLoop: any EventLoop
    private let configuration: RedisConfiguration
    private let logger: Logger
    private let handshake: [RedisCommand]
    /// Whether the handshake ends with TIME.
    private let asksTime: Bool
    private var handshakeSent = ContinuousClock.now
    private var machine = LinkStateMachine()
    private var channel: (any Channel)? {
        didSet { identity = channel.map(ObjectIdentifier.init) }
    }
    private var identity: ObjectIdentifier?
    private var repliesToAwait = 0
    private var handshakeTimer: Scheduled<Void>?
    private var tls: NIOSSLContext?
    /// Set until ``close()``. Strong, because every reply goes through it and a weak reference is slower to load.
    private var owner: (any RedisLinkOwner)?
    private var generator = SystemRandomNumberGenerator()

    init(
        configuration: RedisConfiguration, eventLoop: any EventLoop, libraries: [RedisFunctionLibrary], asksTime: Bool,
        logger: Logger
    ) {
        self.asksTime = asksTime
        self.eventLoop = eventLoop
        self.configuration = configuration
        self.logger = logger
        var commands: [RedisCommand] = []
        if let password = configuration.password {
            commands.append(RedisCommand("AUTH"))
            if let user = configuration.user { commands[0].append(.string(user)) }
            commands[0].append(.string(password))
        }
        if configuration.database != 0 { commands.append(RedisCommand("SELECT", .int(configuration.database))) }
        // PING is refused while a restarted server still reads its file: the link is not up before the data is.
        commands.append(RedisCommand("PING"))
        commands += libraries.map(\.load)
        if asksTime { commands.append(RedisCommand("TIME")) }
        handshake = commands
    }

    var isUp: Bool { machine.isUp }

    func start(owner: any RedisLinkOwner) {
        self.owner = owner
        perform(machine.start(), because: .closed)
    }

    /// Hands bytes to the socket; only while up.
    func write(_ buffer: ByteBuffer) {
        channel?.writeAndFlush(buffer, promise: nil)
    }

    /// Gives the present socket up and connects anew.
    func drop(_ error: RedisError) {
        let old = channel
        channel = nil
        old?.close(promise: nil)
        perform(machine.lost(), because: error)
    }

    func close() {
        perform(machine.close(), because: .shutDown)
        owner = nil
    }

    private func perform(_ action: LinkStateMachine.Action, because error: RedisError) {
        switch action {
        case .none: break
        case .connect: connect()
        case .handshake: sendHandshake()
        case .announceUp:
            handshakeTimer?.cancel()
            logger.debug("connected to Redis")
            owner?.linkUp()
        case .wait(let failures, let wasUp):
            handshakeTimer?.cancel()
            let delay = configuration.backOff.delay(attempt: failures, using: &generator)
            // Once per outage at warning; the attempts that follow are detail.
            logger.log(
                level: wasUp || failures == 0 ? .warning : .debug, "no connection to Redis, trying again",
                metadata: [
                    "error": "\(error)", "attempt": "\(failures)", "wait_ms": "\(delay.nanoseconds / 1_000_000)",
                ])
            if wasUp { owner?.linkDown(error) }
            eventLoop.assumeIsolated().scheduleTask(in: delay) {
                self.perform(self.machine.waited(), because: .closed)
            }
        case .discard:
            channel?.close(promise: nil)
            channel = nil
        case .close(let wasUp):
            handshakeTimer?.cancel()
            let old = channel
            channel = nil
            old?.close(promise: nil)
            if wasUp { owner?.linkDown(error) }
        }
    }

    private func connect() {
        let tls: NIOSSLContext?
        do {
            tls = try configuration.usesTLS ? makeTLS() : nil
        } catch {
            return perform(machine.lost(), because: RedisError(code: .tls, message: "no TLS context: \(error)"))
        }
        let host = configuration.host
        // A numeric address is verified against the certificate's addresses and sent no server name (RFC 6066, 3).
        let address = try? SocketAddress(ipAddress: host, port: configuration.port)
        let serverName = address == nil ? host : nil
        let link = NIOLoopBound(self, eventLoop: eventLoop)
        let bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(configuration.connectTimeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(
                .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 2048, initial: 16_384, maximum: 65_536)
            )
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        let handler = try NIOSSLClientHandler(context: tls, serverHostname: serverName)
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    try channel.pipeline.syncOperations.addHandler(link.value.makeHandler(channel))
                }
            }
        // A numeric address needs no resolver, which would take a thread of another pool.
        let connecting =
            address.map { bootstrap.connect(to: $0) } ?? bootstrap.connect(host: host, port: configuration.port)
        connecting.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let channel):
                self.channel = channel
                self.perform(self.machine.connected(), because: .closed)
            case .failure(let error):
                self.perform(self.machine.lost(), because: RedisError(code: .closed, message: "\(error)"))
            }
        }
    }

    private func makeTLS() throws -> NIOSSLContext {
        if let tls { return tls }
        var settings = TLSConfiguration.makeClientConfiguration()
        settings.minimumTLSVersion = .tlsv12
        if let file = configuration.certificateAuthorityFile { settings.trustRoots = .file(file) }
        let context = try NIOSSLContext(configuration: settings)
        tls = context
        return context
    }

    private func makeHandler(_ channel: any Channel) -> ReplyHandler {
        let builder = owner?.makeBuilder() ?? ReplyBuilder()
        let identity = ObjectIdentifier(channel)
        builder.onReply = { [self] in received($0, from: identity) }
        let reader = ReplyReader(builder: builder, maxReplyBytes: configuration.maxReplyBytes)
        return ReplyHandler(link: self, reader: reader)
    }

    private func sendHandshake() {
        var buffer = ByteBuffer()
        for command in handshake { command.encode(into: &buffer) }
        repliesToAwait = handshake.count
        handshakeSent = .now
        handshakeTimer = eventLoop.assumeIsolated().scheduleTask(in: configuration.connectTimeout) {
            if self.machine.isHandshaking { self.drop(.timeout) }
        }
        write(buffer)
    }

    private func received(_ reply: RedisValue, from identity: ObjectIdentifier) {
        // Replies of a socket that was given up are dropped.
        guard isCurrent(identity) else { return }
        guard machine.isHandshaking else {
            owner?.linkReceived(reply)
            return
        }
        if case .error(let error) = reply, !error.isLibraryThere { return drop(error) }
        repliesToAwait -= 1
        guard repliesToAwait == 0 else { return }
        if asksTime { owner?.linkHeard(time: reply, askedAt: handshakeSent) }
        perform(machine.handshakeSucceeded(), because: .closed)
    }

    private func isCurrent(_ identity: ObjectIdentifier) -> Bool { self.identity == identity }

    fileprivate func readEnded(on channel: any Channel) {
        if isCurrent(ObjectIdentifier(channel)), machine.isUp { owner?.linkReadEnded() }
    }

    fileprivate func broke(_ channel: any Channel, _ error: RedisError) {
        if isCurrent(ObjectIdentifier(channel)) { drop(error) }
    }
}

/// The channel handler: bytes in, replies to the link.
private final class ReplyHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let link: RedisLink
    private let reader: ReplyReader

    init(link: RedisLink, reader: ReplyReader) {
        self.link = link
        self.reader = reader
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        do {
            try reader.feed(unwrapInboundIn(data))
        } catch {
            link.broke(context.channel, error)
            context.close(promise: nil)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        link.readEnded(on: context.channel)
    }

    func channelInactive(context: ChannelHandlerContext) {
        link.broke(context.channel, .closed)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        link.broke(context.channel, RedisError(code: .closed, message: "\(error)"))
        context.close(promise: nil)
    }
}
