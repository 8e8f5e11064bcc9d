internal import CoreMetrics
internal import GatewayLogic
internal import Logging
internal import NIOCore
internal import SignalingProtocol
internal import SignalingWire
internal import WebSocketWire

/// One client's WebSocket: reads its frames, tells ``ClientSession`` what happens, and performs what that decides. It belongs
/// to its shard's isolation.
final class ClientConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    let shard: GatewayShard
    private let remote: SocketAddress?
    let outlet: FrameOutlet
    var session = ClientSession()
    /// The channel whose events come here.
    var channel: LocalChannel?
    /// Its place in the channel's ``ChannelFanout``, which sets it.
    var fanoutSlot = 0
    /// Runs while a poll waits for its turn, or for its answer.
    var pollTimer: Scheduled<Void>?
    /// Until when the login must be answered.
    var loginDeadline = NIODeadline.now()
    /// Whether steps of ``ClientSession/canGoOn`` are being done.
    var isGoingOn = false

    /// When the client sent something last, and the present frame's time while it is dealt with.
    private var lastRead = NIODeadline.now()
    private let openedAt = NIODeadline.now()
    private(set) var context: ChannelHandlerContext?
    private var reader = WebSocketFrameReader()
    private var isReading = false
    /// Whether nothing is read from the socket, because answers or calls wait.
    private var isPaused = false
    /// What came since all the same: NIO reads up to the end of a connection that the client has closed.
    private var readWhilePaused = 0
    /// Bytes that waited for the client at the last sweep, while reading was paused.
    private var waitingAtSweep = 0
    /// Whether the end has begun: nothing is read any more.
    private var isClosed = false

    /// What NIO may read before it minds that nothing more is to be: a few reads of its largest buffer.
    static let pausedReadBound = 512 * 1024

    /// - Parameters:
    ///   - isPlain: whether the connection is without TLS.
    ///   - remote: where the client is, as the proxy tells it, if there is one.
    init(shard: isolated GatewayShard, isPlain: Bool, remote: SocketAddress?) {
        self.shard = shard
        self.remote = remote
        let configuration = shard.configuration
        outlet = FrameOutlet(
            isPlain: isPlain, bound: min(configuration.freshOutputBound, configuration.sendBufferBound),
            budget: shard.output)
        reader.bound = Limits.loginFrameBytes
        outlet.onLaneClosed = { [unowned self] in channel?.fanout.closeLane(of: self) }
        outlet.onPause = { [unowned self] pauses in enter { $0.handle(.output(isPaused: pauses), on: $1) } }
        outlet.onFull = { [unowned self] bound in enter { $0.cutOff(.output(bound), on: $1) } }
    }

    /// Who is logged in here.
    var account: Account? { session.active?.user.account }

    // MARK: - NIO's calls

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        outlet.opened(context)
        enter { $0.opened(on: $1) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        // Before anything else: NIO has closed the socket.
        outlet.ended()
        isClosed = true
        enter { $0.ended(on: $1) }
        self.context = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // When a write fails while a frame is handled, NIO reads what is left before it closes: lost with the connection.
        guard !isClosed, !isReading else { return }
        let bytes = unwrapInboundIn(data)
        enter { $0.read(bytes, on: $1) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        shard.logger.debug("connection failed", metadata: ["error": "\(error)", "client": "\(address)"])
        context.close(promise: nil)
    }

    /// Enters the isolation of the shard, whose executor is the event loop that NIO calls on; checked in release builds too.
    /// Once for what NIO reads, not for each frame.
    private func enter(_ body: @Sendable (ClientConnection, isolated GatewayShard) -> Void) {
        let connection = NIOLoopBound(self, eventLoop: shard.eventLoop)
        shard.assumeIsolated { shard in body(connection.value, shard) }
    }

    // MARK: - The session

    /// Tells the session what has happened, and performs what it decides.
    func handle(_ event: SessionEvent, on shard: isolated GatewayShard) {
        let actions = session.handle(event, shard.environment)
        if let first = actions.first { perform(first, on: shard) }
        for action in actions.rest { perform(action, on: shard) }
    }

    private func opened(on shard: isolated GatewayShard) {
        guard shard.admit(self) else {
            shard.logger.warning(
                "connection refused",
                metadata: ["bound": "\(shard.configuration.connectionBound)", "client": "\(address)"])
            return close(.goingAway, on: shard)
        }
    }

    private func ended(on shard: isolated GatewayShard) {
        handle(.connectionLost, on: shard)
        shard.remove(self)
    }

    // MARK: - Reading

    private func read(_ bytes: ByteBuffer, on shard: isolated GatewayShard) {
        lastRead = .now()
        isReading = true
        defer { isReading = false }
        if isPaused {
            readWhilePaused += bytes.readableBytes
            guard readWhilePaused <= Self.pausedReadBound else { return cutOff(.input, on: shard) }
        }
        var position = 0
        do {
            while !isClosed, let message = try next(in: bytes, from: &position, on: shard) {
                received(message, on: shard)
            }
        } catch {
            violate(error.code, error.message, on: shard)
        }
    }

    private func next(
        in bytes: ByteBuffer, from position: inout Int, on shard: isolated GatewayShard
    ) throws(WebSocketFrameError) -> WebSocketFrameReader.Message? {
        try reader.next(in: bytes.readableBytesSpan, from: &position, payload: &shard.payload)
    }

    private func received(_ message: WebSocketFrameReader.Message, on shard: isolated GatewayShard) {
        switch message {
        case .text: receivedText(on: shard)
        case .ping: shard.send(.pong, shard.payload, to: outlet)
        case .close: handle(.close(.normal), on: shard)
        case .binary: preconditionFailure("the reader takes no binary messages")
        }
    }

    private func receivedText(on shard: isolated GatewayShard) {
        let frame: ClientFrame
        do {
            frame = try ClientFrame(decoding: shard.payload, line: session.lineText)
        } catch {
            return violate(.inconsistentData, error.message, on: shard)
        }
        switch frame {
        case .ping, .call: break
        case .lineLogin: takeFullFrames()
        case .login(let login):
            takeFullFrames()
            return handle(.login(login, isAllowed: shard.door.mayLogIn(doorKey)), on: shard)
        }
        handle(.frame(frame, bytes: shard.payload.count, at: lastRead.uptimeNanoseconds), on: shard)
    }

    /// The client has asked to log in: what it sends from now on may be as large as its calls are.
    private func takeFullFrames() { reader.bound = Limits.frameBytes }

    /// Reads from the socket, or does not.
    func setReading(_ reads: Bool) {
        isPaused = !reads
        readWhilePaused = 0
        waitingAtSweep = 0
        if reads { lastRead = .now() }
        try? context?.channel.syncOptions?.setOption(.autoRead, value: reads)
    }

    // MARK: - Endings

    /// The peer broke the protocol: the connection goes, its session stays resumable.
    private func violate(_ code: WebSocketCloseCode, _ what: String, on shard: isolated GatewayShard) {
        noteViolation(what, on: shard)
        handle(.connectionLost, on: shard)
        close(code, on: shard)
    }

    func noteViolation(_ what: String, on shard: isolated GatewayShard) {
        GatewayMetrics.violations.increment()
        shard.logger.info("protocol violation", metadata: ["what": "\(what)", "client": "\(address)"])
    }

    /// Why a client is cut off.
    enum CutOff {
        /// It does not read what it is sent.
        case output(OutputBudget.Bound)
        /// More events wait for the answer to its join than are kept.
        case heldEvents
        /// It sends on and on without reading.
        case input
    }

    /// The client does not keep up: it is cut off, and may resume.
    func cutOff(_ reason: CutOff, on shard: isolated GatewayShard) {
        guard context != nil, !isClosed else { return }
        let why =
            switch reason {
            case .output(.connection): "bytes waiting over \(outlet.bound)"
            case .output(.all): "bytes waiting for all over \(shard.configuration.shardOutputBound)"
            case .heldEvents: "events waiting over \(Membership.heldBound)"
            case .input: "sends without reading"
            }
        shard.logger.info("slow client cut off", metadata: ["why": "\(why)", "client": "\(address)"])
        GatewayMetrics.cutOff.increment()
        if case .output(.all) = reason { GatewayMetrics.outputFull.increment() }
        isClosed = true
        handle(.connectionLost, on: shard)
        shard.remove(self)
        outlet.closeAtOnce()
    }

    /// The client's address, for logs.
    var address: String { remote?.ipAddress ?? "unknown" }

    /// How the client's address is counted; nil: it is not.
    var doorKey: ClientAddress? { shard.door.key(of: remote) }

    /// Closes the connection if its client has been silent for too long.
    func sweep(now: NIODeadline, on shard: isolated GatewayShard) {
        let configuration = shard.configuration
        if configuration.enforcesTokenExpiry { handle(.tokenCheck, on: shard) }
        if isPaused {
            // A large answer on a slow line: the client is alive as long as some of it gets through.
            let waiting = (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
            if waiting < waitingAtSweep { lastRead = now }
            waitingAtSweep = waiting
        }
        if now - lastRead > configuration.idleTimeout
            || (session.isFresh && now - openedAt > configuration.loginTimeout)
        {
            handle(.close(.goingAway), on: shard)
        }
    }

    /// Writes a close frame after everything that was written, then closes.
    func close(_ code: WebSocketCloseCode, on shard: isolated GatewayShard) {
        shard.remove(self)
        guard !isClosed else { return }
        isClosed = true
        var frame = ByteBuffer()
        frame.writeWebSocketFrame(.close, code.payload)
        outlet.sendLast(frame)
    }
}
