internal import ClusterState
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Pacing
internal import ServiceMetrics

/// Receives a ``RedisLink``'s events, always on the link's event loop.
protocol RedisLinkOwner: AnyObject {
    /// Creates the parser of a new socket. The owner may set the builder's callbacks for messages that bypass
    /// ``linkReceived(_:)``.
    func makeBuilder() -> ReplyBuilder
    /// A reply arrived.
    func linkReceived(_ reply: RedisValue)
    /// The reply to TIME arrived, which ends the handshake of a link that asks for the time.
    func linkHeard(time: RedisValue, askedAt: ContinuousClock.Instant)
    /// All replies of one read of the socket have been passed on.
    func linkReadEnded()
    /// The link is usable: connected, authenticated, and the server has the link's libraries.
    func linkUp()
    /// A link that was up has lost its connection.
    func linkDown(_ error: RedisError)
    /// An attempt to connect has failed; there will be another. Does nothing unless implemented.
    func linkFailed(_ error: RedisError)
}

extension RedisLinkOwner {
    func linkFailed(_ error: RedisError) {}
}

/// One socket to Redis that reconnects by itself. Drives ``LinkStateMachine``.
///
/// Belongs to ``eventLoop``; everything here runs on it. NIO's callbacks enter through a check that they do.
final class RedisLink {
    let eventLoop: any EventLoop
    let configuration: RedisConfiguration
    let libraries: [RedisFunctionLibrary]
    let logger: Logger
    /// Whether the handshake asks for the server's time.
    private let asksTime: Bool
    /// Judges the server before anything is written to it: says why it must not be used. Nil when any server may.
    private var check: ((ServerIdentity) -> RedisError?)?
    /// What is exchanged on the current socket until the link is up.
    private var handshake = LinkHandshake()
    private var handshakeSent = ContinuousClock.now
    private var machine = LinkStateMachine()
    private var channel: (any Channel)? {
        didSet { identity = channel.map(ObjectIdentifier.init) }
    }
    private var identity: ObjectIdentifier?
    private var handshakeTimer: Scheduled<Void>?
    private var tls: NIOSSLContext?
    /// Set until ``close()``. Strong, because every reply goes through it and loading a weak reference is slower.
    private var owner: (any RedisLinkOwner)?

    init(
        configuration: RedisConfiguration, eventLoop: any EventLoop, libraries: [RedisFunctionLibrary], asksTime: Bool,
        logger: Logger, check: ((ServerIdentity) -> RedisError?)? = nil
    ) {
        self.asksTime = asksTime
        self.check = check
        self.eventLoop = eventLoop
        self.configuration = configuration
        self.libraries = libraries
        self.logger = logger
    }

    var isUp: Bool { machine.isUp }

    /// Has the server judged by another check too, after the one there is. To be called before ``start(owner:)``.
    func addCheck(_ added: @escaping (ServerIdentity) -> RedisError?) {
        let former = check
        check = { former?($0) ?? added($0) }
    }

    func start(owner: any RedisLinkOwner) {
        self.owner = owner
        perform(machine.start(), because: .closed)
    }

    /// Writes bytes to the socket; call it only while the link is up.
    func write(_ buffer: ByteBuffer) {
        channel?.writeAndFlush(buffer, promise: nil)
    }

    /// Abandons the current socket and reconnects. Nothing while there is none: an attempt is under way or due, and the
    /// socket of a second one beside it would take the place of the first one's later.
    func drop(_ error: RedisError) {
        guard let old = channel else { return }
        channel = nil
        old.abandon()
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
            RedisMetrics.shared.connects.increment()
            owner?.linkUp()
        case .wait(let failures, let wasUp):
            handshakeTimer?.cancel()
            let delay = configuration.backOff.delay(attempt: failures, fromZeroBy: .random(in: 0...1))
            // One warning per outage; the attempts that follow are logged at debug level.
            logger.log(
                level: wasUp || failures == 0 ? .warning : .debug, "no connection to Redis, trying again",
                metadata: [
                    "error": "\(error)", "attempt": "\(failures)", "wait_ms": "\(delay.wholeMilliseconds)",
                ])
            if wasUp { RedisMetrics.shared.losses.increment() }
            if wasUp { owner?.linkDown(error) } else { owner?.linkFailed(error) }
            eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) {
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
            return perform(machine.lost(), because: RedisError(code: .tls, message: "could not set up TLS: \(error)"))
        }
        let host = configuration.host
        let address = try? SocketAddress(ipAddress: host, port: configuration.port)
        // For a numeric address, the certificate must contain the address, and no server name
        // is sent (RFC 6066, section 3).
        let bootstrap = bootstrap(tls, serverName: address == nil ? host : nil)
        // A numeric address needs no resolver, which would use a thread of another pool.
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

    private func bootstrap(_ tls: NIOSSLContext?, serverName: String?) -> ClientBootstrap {
        let link = NIOLoopBound(self, eventLoop: eventLoop)
        return ClientBootstrap(group: eventLoop)
            .connectTimeout(TimeAmount(configuration.connectTimeout))
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
        handshakeTimer = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(configuration.connectTimeout)) {
            if self.machine.isHandshaking { self.drop(.timeout) }
        }
        handshake = LinkHandshake(configuration, libraries: libraries, asksTime: asksTime, isChecked: check != nil)
        goOn()
    }

    /// Sends the next commands of the handshake, or ends it.
    private func goOn() {
        switch handshake.next() {
        case .wait: break
        case .send(let commands):
            var buffer = ByteBuffer()
            for command in commands { command.encode(into: &buffer) }
            handshakeSent = .now
            write(buffer)
        case .done: perform(machine.handshakeSucceeded(), because: .closed)
        }
    }

    /// Judges the server by its reply to INFO.
    private func refusal(_ reply: RedisValue) -> RedisError? {
        do throws(RedisError) {
            return check?(try ServerIdentity(info: reply))
        } catch {
            return error
        }
    }

    private func received(_ reply: RedisValue, from identity: ObjectIdentifier) {
        // Replies from an abandoned socket are ignored.
        guard isCurrent(identity) else { return }
        guard machine.isHandshaking else {
            owner?.linkReceived(reply)
            return
        }
        switch handshake.received(reply) {
        case .nothing: break
        case .refused(let error): return drop(error)
        case .identity(let info): if let refusal = refusal(info) { return drop(refusal) }
        case .time(let time): owner?.linkHeard(time: time, askedAt: handshakeSent)
        }
        goOn()
    }

    private func isCurrent(_ identity: ObjectIdentifier) -> Bool { self.identity == identity }

    fileprivate func readEnded(on channel: any Channel) {
        if isCurrent(ObjectIdentifier(channel)), machine.isUp { owner?.linkReadEnded() }
    }

    fileprivate func broke(_ channel: any Channel, _ error: RedisError) {
        if isCurrent(ObjectIdentifier(channel)) { drop(error) }
    }
}

/// The channel handler that parses incoming bytes into replies.
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
