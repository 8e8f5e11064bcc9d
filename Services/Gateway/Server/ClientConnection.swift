internal import CoreMetrics
internal import GatewayLogic
internal import Logging
internal import NIOCore
internal import NIOWebSocket
internal import SignalingProtocol
internal import SignalingWire

/// One client's WebSocket: performs what ``ConnectionStateMachine`` decides. Loop-bound.
final class ClientConnection: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    let shard: GatewayShard
    let outlet: FrameOutlet
    var machine = ConnectionStateMachine()
    /// The session that was last active here.
    var session: ActiveSession?
    var calls = CallPipeline<QueuedCall>(held: false)
    var mailbox: MailboxStateMachine?
    /// Answers the poll that waits for the mailbox, at most one: polls do not overlap.
    var waitingPoll: Finish?
    /// The session's line as the client sends it with every call; set before calls are taken.
    var lineText = ""
    /// The session that the shard knows under this connection.
    var boundSession: SessionID?
    /// The app's, from the login or resume on.
    var limits = AppLimits() {
        didSet {
            channelMessages = RateLimit(perSecond: limits.messagesPerSecond)
            instantMessages = RateLimit(perSecond: limits.messagesPerSecond)
        }
    }
    var channelMessages = RateLimit(perSecond: Limits.messagesPerSecond)
    var instantMessages = RateLimit(perSecond: Limits.messagesPerSecond)

    var channel: LocalChannel?
    var membership: Membership?
    var channelSlot = 0
    /// What must follow the answer that is being written: the channel's events that waited for it.
    var afterAnswer: (() -> Void)?
    /// The last `channel2` id that was written here.
    var lastEventID: Int64 = 0

    /// When a client's frame came last, and the present one's time while it is dealt with.
    private(set) var lastRead = NIODeadline.now()
    private let openedAt = NIODeadline.now()
    private var context: ChannelHandlerContext?
    private var fragments: ByteBuffer?

    /// - Parameter isPlain: whether the connection is without TLS.
    init(shard: GatewayShard, isPlain: Bool) {
        self.shard = shard
        outlet = FrameOutlet(isPlain: isPlain)
        outlet.onLaneClosed = { [unowned self] in channel?.closeLane(of: self) }
    }

    var isWritable: Bool { outlet.isWritable }

    var eventLoop: any EventLoop { shard.eventLoop }

    /// The session, while it may act.
    var active: ActiveSession? { machine.isActive ? session : nil }

    /// Who is logged in here.
    var account: Account? { active?.user.account }

    // MARK: - Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        guard shard.admit(self) else {
            shard.logger.warning("connection refused", metadata: ["bound": "\(shard.configuration.connectionBound)"])
            return close(.goingAway)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        perform(machine.connectionLost())
        cleanUp()
        self.context = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastRead = .now()
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text where frame.fin && fragments == nil:
            received(shard.unmasked(frame))
        case .text where fragments == nil:
            fragments = frame.unmaskedData
        case .continuation where fragments != nil:
            append(frame)
        case .ping:
            let pong = WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData)
            context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
        case .pong:
            break
        case .connectionClose:
            close(.normalClosure)
        case .binary:
            violate(.unacceptableData, "binary frame")
        default:
            violate(.protocolError, "unexpected opcode")
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case NIOWebSocketError.invalidFrameLength: violate(.messageTooLarge, "frame over \(Limits.frameBytes) bytes")
        case is NIOWebSocketError: violate(.protocolError, "not a WebSocket frame")
        default:
            shard.logger.debug("connection failed", metadata: ["error": "\(error)"])
            context.close(promise: nil)
        }
    }

    private func append(_ frame: WebSocketFrame) {
        var data = frame.unmaskedData
        fragments?.writeBuffer(&data)
        guard let gathered = fragments, gathered.readableBytes <= Limits.frameBytes else {
            return violate(.messageTooLarge, "message over \(Limits.frameBytes) bytes")
        }
        if frame.fin {
            fragments = nil
            received(gathered)
        }
    }

    // MARK: - Frames

    private func received(_ text: ByteBuffer) {
        let frame: ClientFrame
        do {
            frame = try ClientFrame(decoding: text.readableBytesView, line: lineText)
        } catch {
            return violate(.dataInconsistentWithMessage, error.message)
        }
        switch frame {
        case .ping(let number):
            send(ServerFrame.pong(number))
        case .login(let login):
            perform(
                machine.login(
                    app: login.app, account: login.account, token: login.token, device: login.device, push: login.push))
        case .lineLogin(let resume):
            resumeAfter = resume.after
            calls = CallPipeline(held: true)
            perform(machine.lineLogin(resume.line))
        case .call(let request):
            received(request)
        }
    }

    /// The last `channel2` id that a resuming client saw, when it asks for what it missed.
    var resumeAfter: Int64?

    // MARK: - Writing

    /// Sends one text frame.
    func send(_ payload: [UInt8]) {
        shard.send(payload, to: outlet)
    }

    /// Sends finished frames.
    func send(_ frames: ByteBuffer) { outlet.send(frames) }

    // MARK: - Endings

    /// The peer broke the protocol: the connection goes, its session stays resumable.
    func violate(_ code: WebSocketErrorCode, _ what: String) {
        GatewayMetrics.violations.increment()
        shard.logger.info("protocol violation", metadata: ["what": "\(what)"])
        perform(machine.connectionLost())
        close(code)
    }

    /// Another connection or login has the session now.
    func superseded(_ ending: ConnectionStateMachine.Ending) { perform(machine.superseded(ending)) }

    /// The client does not read: it is cut off, and may resume.
    func cutOff() {
        guard context != nil else { return }
        shard.logger.info("slow client cut off", metadata: ["bound": "\(shard.configuration.sendBufferBound)"])
        GatewayMetrics.cutOff.increment()
        perform(machine.connectionLost())
        cleanUp()
        context?.close(promise: nil)
    }

    /// The gateway goes: the client should resume elsewhere.
    func drain() {
        perform(machine.connectionLost())
        close(.serviceRestart)
    }

    /// Closes what is silent.
    func sweep(now: NIODeadline) {
        let configuration = shard.configuration
        if configuration.enforcesTokenExpiry { enforceTokenExpiry() }
        if now - lastRead > configuration.idleTimeout
            || (machine.isFresh && now - openedAt > configuration.loginTimeout)
        {
            perform(machine.connectionLost())
            close(.goingAway)
        }
    }

    /// Writes a close frame after everything that was written, then closes.
    func close(_ code: WebSocketErrorCode) {
        cleanUp()
        guard let context, context.channel.isActive else { return }
        var data = context.channel.allocator.buffer(capacity: 2)
        data.write(webSocketErrorCode: code)
        let frame = WebSocketFrame(fin: true, opcode: .connectionClose, data: data)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(frame)).whenComplete { _ in channel.close(promise: nil) }
        // A client that does not read must not keep the socket.
        eventLoop.scheduleTask(in: .seconds(5)) { channel.close(promise: nil) }
    }

    private func cleanUp() {
        shard.remove(self)
        unbind()
        calls.abandon()
        leaveLocalChannel()
    }
}

extension WebSocketErrorCode {
    /// RFC 6455's registry: 1012, the service restarts.
    static let serviceRestart = WebSocketErrorCode(codeNumber: 1012)
}
