internal import CoreMetrics
internal import GatewayLogic
internal import Logging
internal import NIOCore
internal import SignalingProtocol
internal import SignalingWire

/// One client's WebSocket: performs what ``ConnectionStateMachine`` decides. Loop-bound.
final class ClientConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

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

    /// When the client sent something last, and the present frame's time while it is dealt with.
    private(set) var lastRead = NIODeadline.now()
    private let openedAt = NIODeadline.now()
    private var context: ChannelHandlerContext?
    private var reader = WebSocketFrameReader()
    private var isReading = false
    /// Whether the end has begun: nothing is read any more.
    private var isClosed = false

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
        outlet.opened(context)
        guard shard.admit(self) else {
            shard.logger.warning("connection refused", metadata: ["bound": "\(shard.configuration.connectionBound)"])
            return close(.goingAway)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        // Before anything else: NIO has closed the socket.
        outlet.ended()
        isClosed = true
        perform(machine.connectionLost())
        cleanUp()
        self.context = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // When a write fails while a frame is handled, NIO reads what is left before it closes: lost with the connection.
        guard !isClosed, !isReading else { return }
        lastRead = .now()
        isReading = true
        defer { isReading = false }
        let bytes = unwrapInboundIn(data)
        var position = 0
        do {
            while !isClosed, let message = try read(bytes, from: &position) { received(message) }
        } catch {
            violate(error.code, error.message)
        }
    }

    private func read(
        _ bytes: ByteBuffer, from position: inout Int
    ) throws(WebSocketFrameError) -> WebSocketFrameReader.Message? {
        try reader.next(in: bytes.readableBytesSpan, from: &position, payload: &shard.payload)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        shard.logger.debug("connection failed", metadata: ["error": "\(error)"])
        context.close(promise: nil)
    }

    // MARK: - Frames

    private func received(_ message: WebSocketFrameReader.Message) {
        switch message {
        case .text: receivedText()
        case .ping: shard.send(.pong, shard.payload, to: outlet)
        case .close: close(.normalClosure)
        case .binary: preconditionFailure("the reader takes no binary messages")
        }
    }

    private func receivedText() {
        let frame: ClientFrame
        do {
            frame = try ClientFrame(decoding: shard.payload, line: lineText)
        } catch {
            return violate(.inconsistentData, error.message)
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
    func send(_ payload: [UInt8]) { shard.send(.text, payload, to: outlet) }

    /// Sends finished frames.
    func send(_ frames: ByteBuffer) { outlet.send(frames) }

    // MARK: - Endings

    /// The peer broke the protocol: the connection goes, its session stays resumable.
    func violate(_ code: WebSocketCloseCode, _ what: String) {
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
        isClosed = true
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
    func close(_ code: WebSocketCloseCode) {
        cleanUp()
        guard !isClosed else { return }
        isClosed = true
        var frame = ByteBuffer()
        frame.writeWebSocketFrame(.close, code.payload)
        outlet.sendLast(frame)
    }

    private func cleanUp() {
        shard.remove(self)
        unbind()
        calls.abandon()
        leaveLocalChannel()
    }
}
