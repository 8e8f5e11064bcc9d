internal import CoreMetrics
internal import DequeModule
internal import GatewayLogic
internal import Logging
internal import NIOCore
internal import SignalingProtocol
internal import SignalingWire
internal import WebSocketWire

/// One client's WebSocket: performs what ``ConnectionStateMachine`` decides. Loop-bound.
final class ClientConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    let shard: GatewayShard
    private let remote: SocketAddress?
    let outlet: FrameOutlet
    var machine = ConnectionStateMachine()
    /// The session that was last active here.
    var session: ActiveSession?
    var calls = CallPipeline(held: false)
    var mailbox: MailboxStateMachine?
    /// The poll that waits for the mailbox, at most one: polls do not overlap.
    var waitingPoll: CallTurn?
    /// When that poll may be answered, then until when it must be.
    var pollTimeout: Scheduled<Void>?
    /// Entries to be pushed when the client has taken what waits for it.
    var unsentPushes: Deque<MailboxEntry> = []
    /// What a resumed session is still to be shown of its channel.
    var replay: Replay?
    /// The session's line as the client sends it with every call; set before calls are taken.
    var lineText = ""
    /// The session that the shard knows under this connection.
    var boundSession: SessionID?
    /// The app's, from the login or resume on.
    var limits: AppLimits {
        get { rates.limits }
        set {
            knowsLimits = true
            rates.adopt(newValue)
        }
    }
    /// Whether ``limits`` are the app's own.
    private(set) var knowsLimits = false
    var rates = SessionRates()
    /// When the login, or the exclusive act that is under way, must be answered.
    var actDeadline = NIODeadline.now()

    var channel: LocalChannel?
    /// The join that is to be undone, until that is confirmed.
    var settlement: JoinSettlement?
    var membership: Membership?
    /// In which channel the session is, as channel-state has told.
    var place = ChannelPlace()
    /// The logout that is under way: told that it has succeeded when its session turns out to have ended by it.
    var waitingLogout: Finish?
    var channelSlot = 0
    /// What must follow the answer that is being written: the channel's events that waited for it.
    var afterAnswer: (() -> Void)?
    /// The last `channel2` id that was written here.
    var lastEventID: Int64 = 0

    /// When the client sent something last, and the present frame's time while it is dealt with.
    private(set) var lastRead = NIODeadline.now()
    private let openedAt = NIODeadline.now()
    private(set) var context: ChannelHandlerContext?
    private var reader = WebSocketFrameReader()
    private var isReading = false
    /// Whether calls that waited are being started.
    var isStartingCalls = false
    /// Whether nothing is read from the socket, because answers or calls wait.
    private var isPaused = false
    /// What came since all the same: NIO reads up to the end of a connection that the client has closed.
    private var readWhilePaused = 0
    /// What the outlet had waiting at the last look, while nothing was read.
    private var waitingAtSweep = 0
    /// Whether the end has begun: nothing is read any more.
    private var isClosed = false

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
        outlet.onLaneClosed = { [unowned self] in channel?.closeLane(of: self) }
        outlet.onPause = { [unowned self] pauses in enter { $0.outputPaused(pauses, on: $1) } }
        outlet.onFull = { [unowned self] bound in enter { $0.cutOff(.output(bound), on: $1) } }
    }

    /// The session, while it may act.
    var active: ActiveSession? { machine.isActive ? session : nil }

    /// Who is logged in here.
    var account: Account? { active?.user.account }

    // MARK: - Channel events

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

    /// Enters the isolation of the shard, whose executor is the event loop that NIO calls on; checked in release builds too.
    /// It costs a few loads and compares: once for what NIO reads, not for each frame.
    private func enter(_ body: @Sendable (ClientConnection, isolated GatewayShard) -> Void) {
        let connection = NIOLoopBound(self, eventLoop: shard.eventLoop)
        shard.assumeIsolated { shard in body(connection.value, shard) }
    }

    // MARK: - On the shard

    private func opened(on shard: isolated GatewayShard) {
        guard shard.admit(self) else {
            shard.logger.warning(
                "connection refused",
                metadata: ["bound": "\(shard.configuration.connectionBound)", "client": "\(address)"])
            return close(.goingAway, on: shard)
        }
    }

    private func ended(on shard: isolated GatewayShard) {
        perform(machine.connectionLost(), on: shard)
        cleanUp(on: shard)
    }

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

    /// What NIO may read before it minds that nothing more is to be: a few reads of its largest buffer.
    static let pausedReadBound = 512 * 1024

    /// Reads, or does not, as calls and answers wait or not.
    func regulateReading() {
        guard !isClosed else { return }
        let bound = calls.isHolding ? Limits.heldCallBytes : Limits.waitingCallBytes
        let pauses = outlet.output.isPaused || calls.waitingBytes >= bound
        guard pauses != isPaused else { return }
        isPaused = pauses
        readWhilePaused = 0
        waitingAtSweep = 0
        if pauses { GatewayMetrics.pauses.increment() } else { lastRead = .now() }
        try? context?.channel.syncOptions?.setOption(.autoRead, value: !pauses)
    }

    /// The client takes what it is sent, or does not: no call starts meanwhile.
    private func outputPaused(_ pauses: Bool, on shard: isolated GatewayShard) {
        guard !isClosed else { return }
        calls.isPaused = pauses
        regulateReading()
        guard !pauses else { return }
        sendUnsent(on: shard)
        startWaiting(on: shard)
    }

    private func next(
        in bytes: ByteBuffer, from position: inout Int, on shard: isolated GatewayShard
    ) throws(WebSocketFrameError) -> WebSocketFrameReader.Message? {
        try reader.next(in: bytes.readableBytesSpan, from: &position, payload: &shard.payload)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        shard.logger.debug("connection failed", metadata: ["error": "\(error)", "client": "\(address)"])
        context.close(promise: nil)
    }

    // MARK: - Frames

    private func received(_ message: WebSocketFrameReader.Message, on shard: isolated GatewayShard) {
        switch message {
        case .text: receivedText(on: shard)
        case .ping: shard.send(.pong, shard.payload, to: outlet)
        case .close:
            // First: what is still to be written may keep the socket for a while, and the client may be elsewhere soon.
            perform(machine.connectionLost(), on: shard)
            close(.normalClosure, on: shard)
        case .binary: preconditionFailure("the reader takes no binary messages")
        }
    }

    private func receivedText(on shard: isolated GatewayShard) {
        let frame: ClientFrame
        do {
            frame = try ClientFrame(decoding: shard.payload, line: lineText)
        } catch {
            return violate(.inconsistentData, error.message, on: shard)
        }
        switch frame {
        case .ping(let number):
            send(ServerFrame.pong(number), on: shard)
        case .login(let login):
            takeFullFrames()
            guard shard.door.mayLogIn(doorKey) else { return refuseLogin(on: shard) }
            perform(
                machine.login(
                    app: login.app, account: login.account, token: login.token, device: login.device, push: login.push),
                on: shard)
        case .lineLogin(let resume):
            takeFullFrames()
            if machine.isFresh {
                resumeAfter = resume.after
                calls = CallPipeline(held: true)
                calls.isPaused = outlet.output.isPaused
            }
            perform(machine.lineLogin(resume.line), on: shard)
        case .call(let request):
            received(request, on: shard)
        }
    }

    /// Too many logins of the client's address have failed.
    private func refuseLogin(on shard: isolated GatewayShard) {
        guard machine.isFresh else { return }
        GatewayMetrics.loginsLimited.increment()
        send(
            ServerFrame.loginFailed(
                SignalingError(.loginOther, "rate_limited", "too many logins of this address have failed")), on: shard)
        perform(machine.connectionLost(), on: shard)
        close(.normalClosure, on: shard)
    }

    /// The client has asked to log in: what it sends from now on may be as large as its calls are.
    private func takeFullFrames() { reader.bound = Limits.frameBytes }

    /// The last `channel2` id that a resuming client saw, when it asks for what it missed.
    var resumeAfter: Int64?

    // MARK: - Writing

    /// Sends one text frame.
    /// - Parameter isAnswer: whether the client has asked for it.
    func send(_ payload: [UInt8], isAnswer: Bool = false, on shard: isolated GatewayShard) {
        shard.send(.text, payload, to: outlet, isAnswer: isAnswer)
    }

    // MARK: - Endings

    /// The peer broke the protocol: the connection goes, its session stays resumable.
    func violate(_ code: WebSocketCloseCode, _ what: String, on shard: isolated GatewayShard) {
        GatewayMetrics.violations.increment()
        shard.logger.info("protocol violation", metadata: ["what": "\(what)", "client": "\(address)"])
        perform(machine.connectionLost(), on: shard)
        close(code, on: shard)
    }

    /// Another connection or login has the session now.
    func superseded(_ ending: ConnectionStateMachine.Ending, on shard: isolated GatewayShard) {
        if ending == .closeFrame(.logoutUser), let finish = waitingLogout {
            loggedOut(finish, on: shard)
        } else {
            perform(machine.superseded(ending), on: shard)
        }
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
        perform(machine.connectionLost(), on: shard)
        cleanUp(on: shard)
        outlet.closeAtOnce()
    }

    /// The client's address, for logs.
    var address: String { remote?.ipAddress ?? "unknown" }

    /// How the client's address is counted; nil: it is not.
    var doorKey: ClientAddress? { shard.door.key(of: remote) }

    /// The gateway goes: the client should resume elsewhere.
    func drain(on shard: isolated GatewayShard) {
        perform(machine.connectionLost(), on: shard)
        close(.serviceRestart, on: shard)
    }

    /// Closes what is silent.
    func sweep(now: NIODeadline, on shard: isolated GatewayShard) {
        let configuration = shard.configuration
        if configuration.enforcesTokenExpiry { enforceTokenExpiry(on: shard) }
        if isPaused {
            // A large answer on a slow line: it is alive as long as it takes some of it.
            let waiting = (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
            if waiting < waitingAtSweep { lastRead = now }
            waitingAtSweep = waiting
        }
        if now - lastRead > configuration.idleTimeout
            || (machine.isFresh && now - openedAt > configuration.loginTimeout)
        {
            perform(machine.connectionLost(), on: shard)
            close(.goingAway, on: shard)
        }
    }

    /// Writes a close frame after everything that was written, then closes.
    func close(_ code: WebSocketCloseCode, on shard: isolated GatewayShard) {
        cleanUp(on: shard)
        guard !isClosed else { return }
        isClosed = true
        var frame = ByteBuffer()
        frame.writeWebSocketFrame(.close, code.payload)
        outlet.sendLast(frame)
    }

    private func cleanUp(on shard: isolated GatewayShard) {
        shard.remove(self)
        keepRates(on: shard)
        unbind(on: shard)
        calls.abandon()
        forgetPoll()
        unsentPushes = []
        replay = nil
        waitingLogout = nil
        leaveLocalChannel(on: shard)
        // It holds this connection.
        afterAnswer = nil
    }
}
