internal import GatewayLogic
internal import Logging
internal import NIOCore
internal import Pacing
internal import ServiceMetrics
internal import SignalingProtocol
internal import SignalingWire
internal import WebSocketWire

/// One client's WebSocket: reads its frames, reports events to its ``ClientSession``, and performs the resulting
/// actions, all of them before the next event. Isolated to its shard.
final class ClientConnection: ChannelInboundHandler, FrameOutletOwner {
    typealias InboundIn = ByteBuffer

    let shard: GatewayShard
    let remote: SocketAddress?
    let outlet: FrameOutlet
    private(set) var session = ClientSession()
    /// What the client's calls must contain, the session's line or that of the socket for media; empty before it may
    /// make calls.
    var line: String { session.line ?? media?.line ?? "" }
    /// Whether the client waits for an answer.
    var owesAnswers: Bool { session.owesAnswers }
    /// What the client does with media; nil before it does.
    @HeapStored var media: MediaSocket?
    /// Whether the actions of an event are being performed.
    private var isHandling = false
    /// The events that have occurred meanwhile, in order.
    private var waiting: [SessionEvent] = []
    /// The channel whose events this connection receives.
    var channel: LocalChannel?
    /// The connection's delivery state in its channel; only the fan-out changes it.
    var progress = ChannelFanout.Progress()
    /// The timer that runs while a poll waits for its turn or for the mailbox.
    @HeapStored var pollTimer: Scheduled<Void>?
    /// While the client owes its login, when it must have tried to log in; then, when the login or resume must have
    /// been answered: `callTimeout` after it began.
    var loginDeadline = LocalTime.now
    /// Whether the client has not tried to log in.
    private var owesLogin = true

    /// When the client last sent something; while a frame is handled, the time of that frame.
    private var lastRead = LocalTime.now
    private(set) var context: ChannelHandlerContext?
    private var reader = WebSocketFrameReader()
    private var isReading = false
    /// What has happened since the session has stopped reading; nil while it reads.
    @HeapStored private var pause: ReadingPause?
    /// Whether the socket is closed or the last frame was sent; nothing is read any more.
    private(set) var isClosed = false

    /// How many more frames the client may send at once.
    private var pace = FramePace()
    /// The input that waits because the client has sent more than its pace allows; nil while
    /// input is handled as it arrives.
    private var held: [UInt8]?

    private struct ReadingPause {
        /// The bytes that arrived nevertheless: NIO reads to the end of a connection that the client has closed.
        var bytes = 0
        /// The output that was waiting at the last sweep, in bytes.
        var waitingAtSweep = 0
    }

    /// How many bytes NIO may still deliver after reading was paused: a few reads of its largest buffer.
    static let pausedReadBound = 512 * 1024

    /// - Parameters:
    ///   - isPlain: whether the connection is without TLS.
    ///   - remote: the client's address, as reported by the proxy if there is one.
    init(shard: isolated GatewayShard, isPlain: Bool, remote: SocketAddress?) {
        self.shard = shard
        self.remote = remote
        let configuration = shard.configuration
        outlet = FrameOutlet(
            isPlain: isPlain, bound: min(configuration.freshOutputBound, configuration.sendBufferBound),
            budget: shard.output)
        reader.bound = Limits.loginFrameBytes
        loginDeadline = .now + shard.environment.loginTimeout
        outlet.owner = self
    }

    // MARK: - NIO's callbacks

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        outlet.opened(context)
        enter { $0.opened(on: $1) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        // First of all, because NIO has closed the socket already.
        outlet.ended()
        isClosed = true
        enter { $0.ended(on: $1) }
        self.context = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // When a write fails while a frame is handled, NIO still reads what is left; it is lost with the connection.
        guard !isClosed, !isReading else { return }
        let bytes = unwrapInboundIn(data)
        enter { $0.read(bytes, on: $1) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        shard.logger.debug("connection failed", metadata: ["error": "\(error)", "client": "\(address)"])
        context.close(promise: nil)
    }

    /// Enters the isolation of the shard, whose executor is the event loop that NIO calls on; this is checked in
    /// release builds too. Done once per read of the socket, not per frame.
    private func enter(_ body: @Sendable (ClientConnection, isolated GatewayShard) -> Void) {
        let connection = NIOLoopBound(self, eventLoop: shard.eventLoop)
        shard.assumeIsolated { shard in body(connection.value, shard) }
    }

    // MARK: - The session

    /// Reports an event to the session and performs the resulting actions. An event that is caused by an action waits
    /// until all actions of the event before are performed.
    func handle(_ event: SessionEvent, on shard: isolated GatewayShard) {
        guard !isHandling else { return waiting.append(event) }
        isHandling = true
        defer { isHandling = false }
        var hasNextTurn = handleOne(event, on: shard)
        while !waiting.isEmpty || hasNextTurn {
            hasNextTurn = handleOne(waiting.isEmpty ? .nextTurn : takeWaiting(), on: shard)
        }
    }

    /// - Returns: whether ``SessionEvent/nextTurn`` must follow.
    private func handleOne(_ event: SessionEvent, on shard: isolated GatewayShard) -> Bool {
        let isTraced = !shard.traced.isEmpty
        let before = isTraced ? session.subject : nil
        let actions = session.handle(event, shard.environment)
        // A login names its user, and an end forgets it.
        if isTraced, let user = before ?? session.subject { shard.trace(event, actions, of: user, from: address) }
        if let first = actions.first { perform(first, on: shard) }
        for action in actions.rest { perform(action, on: shard) }
        return actions.hasNextTurn
    }

    private func takeWaiting() -> SessionEvent {
        let next = waiting.removeFirst()
        // Frees the memory, because events of most connections never wait.
        if waiting.isEmpty { waiting = [] }
        return next
    }

    private func opened(on shard: isolated GatewayShard) {
        guard shard.admit(self) else {
            GatewayMetrics.shared.refused.increment()
            shard.logOften(
                .refusal, "refused a connection: too many clients",
                ["bound": "\(shard.configuration.connectionBound)", "client": "\(address)"])
            return close(.goingAway, on: shard)
        }
    }

    private func ended(on shard: isolated GatewayShard) {
        handle(.connectionLost, on: shard)
        endMedia(on: shard)
        shard.remove(self)
    }

    // MARK: - Reading

    private func read(_ bytes: ByteBuffer, on shard: isolated GatewayShard) {
        lastRead = .now
        if let before = pause?.bytes {
            pause?.bytes = before + bytes.readableBytes
            guard before + bytes.readableBytes <= Self.pausedReadBound else { return cutOff(.input, on: shard) }
        }
        guard held == nil else { return hold(bytes.readableBytesView, on: shard) }
        let position = handleFrames(of: bytes.readableBytesSpan, on: shard)
        if pace.isSpent, !isClosed { hold(bytes.readableBytesView.dropFirst(position), on: shard) }
    }

    /// Handles the frames up to the one with which the client's pace is spent.
    /// - Returns: how many bytes were taken; the reader keeps a frame that is incomplete.
    private func handleFrames(of bytes: RawSpan, on shard: isolated GatewayShard) -> Int {
        isReading = true
        defer { isReading = false }
        var position = 0
        do {
            while !isClosed, !pace.isSpent,
                let message = try reader.next(in: bytes, from: &position, payload: &shard.payload)
            {
                received(message, on: shard)
            }
        } catch {
            violate(error.code, error.message, on: shard)
        }
        return position
    }

    private func received(_ message: WebSocketFrameReader.Message, on shard: isolated GatewayShard) {
        switch message {
        case .text: receivedText(on: shard)
        case .ping:
            pace.charge(bytes: shard.payload.count, now: lastRead)
            shard.send(.pong, shard.payload, to: outlet)
        case .close: handle(.close(.normal), on: shard)
        case .binary: endExcluded("the frame reader passed on a binary message", on: shard)
        }
    }

    private func receivedText(on shard: isolated GatewayShard) {
        let frame: ClientFrame
        do {
            frame = try ClientFrame(decoding: shard.payload, line: line)
        } catch {
            return violate(.inconsistentData, error.message, on: shard)
        }
        charge(frame, on: shard)
        switch frame {
        case .ping(let number): handle(.ping(number), on: shard)
        case .call(let request): handle(.call(request, bytes: shard.payload.count, at: lastRead), on: shard)
        case .mediaHello(let hello): received(hello, on: shard)
        case .media(let request): received(request, at: lastRead, on: shard)
        case .login where isForMedia: refuseLogin(ServerFrame.loginFailed, on: shard)
        case .lineLogin where isForMedia: refuseLogin(ServerFrame.lineLoginFailed, on: shard)
        case .lineLogin(let request):
            takeLogin()
            handle(.lineLogin(request, isAllowed: shard.addressLimiter.mayLogIn(addressKey)), on: shard)
        case .login(let request):
            takeLogin()
            handle(.login(request, isAllowed: shard.addressLimiter.mayLogIn(addressKey)), on: shard)
        }
    }

    /// Counts a frame against the client's pace. Calls that the session refuses are counted by ``chargeRefusal()``.
    private func charge(_ frame: ClientFrame, on shard: isolated GatewayShard) {
        let bytes = shard.payload.count
        if !line.isEmpty, case .call(let request) = frame, case .success = request.call {
            pace.chargeSize(bytes: bytes, now: lastRead)
        } else {
            pace.charge(bytes: bytes, now: lastRead)
        }
    }

    /// Counts a call that a rate limit has refused.
    func chargeRefusal() { pace.charge(bytes: 0, now: lastRead) }

    /// Lets the client send as much as a session may.
    func raisePace() { pace.raise() }

    /// Keeps input until the client's pace allows it; nothing more is read meanwhile.
    private func hold(_ bytes: ByteBufferView, on shard: isolated GatewayShard) {
        if held == nil {
            GatewayMetrics.shared.inputPaced.increment()
            held = []
            regulateReading()
            handleHeldLater(on: shard)
        }
        held?.append(contentsOf: bytes)
        let bound = line.isEmpty ? Limits.loginFrameBytes : Self.pausedReadBound
        if let held, held.count > bound { cutOff(.frames, on: shard) }
    }

    private func handleHeldLater(on shard: isolated GatewayShard) {
        shard.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(FramePace.pause)) { [self] in
            handleHeld(on: shard)
        }
    }

    private func handleHeld(on shard: isolated GatewayShard) {
        guard !isClosed, let bytes = held else { return }
        lastRead = .now
        guard pause == nil, pace.allowsFrame(now: lastRead) else { return handleHeldLater(on: shard) }
        let position = handleFrames(of: bytes.span.bytes, on: shard)
        guard !isClosed else { return }
        guard pace.isSpent else {
            held = nil
            return regulateReading()
        }
        held = Array(bytes[position...])
        handleHeldLater(on: shard)
    }

    /// Allows frames of full size, because the client has logged in or is doing so.
    func takeLogin(frames bound: Int = Limits.frameBytes) {
        reader.bound = bound
        owesLogin = false
    }

    /// Starts or stops reading from the socket.
    func setReading(_ reads: Bool) {
        pause = reads ? nil : ReadingPause()
        if reads { lastRead = .now }
        regulateReading()
    }

    private func regulateReading() {
        try? context?.channel.syncOptions?.setOption(.autoRead, value: pause == nil && held == nil)
    }

    // MARK: - The outlet's callbacks

    func laneClosed() { channel?.fanout.closeLane(of: self) }

    func outputPaused(_ isPaused: Bool) { enter { $0.handle(.output(isPaused: isPaused), on: $1) } }

    func outputFull(_ bound: OutputBudget.Bound) { enter { $0.cutOff(.output(bound), on: $1) } }

    func gatheredFrameIsDue() { enter { $1.gatherer.flush() } }

    // MARK: - Endings

    /// Closes the connection because the client violates the protocol; its session stays resumable.
    private func violate(_ code: WebSocketCloseCode, _ what: String, on shard: isolated GatewayShard) {
        noteViolation(what, on: shard)
        handle(.connectionLost, on: shard)
        close(code, on: shard)
    }

    func noteViolation(_ what: String, on shard: isolated GatewayShard) {
        GatewayMetrics.shared.violations.increment()
        shard.logOften(.violation, "protocol violation", ["what": "\(what)", "client": "\(address)"])
    }

    /// Closes the connection because it has met what the types of its parts exclude: an error of this program, which
    /// other clients are not to suffer from. The session stays resumable.
    func endExcluded(_ what: String, on shard: isolated GatewayShard) {
        shard.logger.error("client connection", metadata: ["error": "\(what)", "client": "\(address)"])
        handle(.close(.restart), on: shard)
    }

    /// Why a client is disconnected.
    enum CutOff {
        /// It does not read its output.
        case output(OutputBudget.Bound)
        /// Too many events wait for the answer to its join.
        case heldEvents
        /// It keeps sending without reading.
        case input
        /// It sends pings, or calls that are refused, faster than they are handled.
        case frames
    }

    /// Disconnects a client that does not keep up; it may resume its session.
    func cutOff(_ reason: CutOff, on shard: isolated GatewayShard) {
        guard context != nil, !isClosed else { return }
        let why =
            switch reason {
            case .output(.connection): "more than \(outlet.bound) bytes wait to be sent"
            case .output(.all):
                "more than \(shard.configuration.shardOutputBound) bytes wait for all clients of the shard"
            case .heldEvents: "more than \(Membership.heldBound) events wait for the answer to a call"
            case .input: "it sends without reading"
            case .frames: "it sends far more frames than its pace allows"
            }
        shard.logOften(.cutOff, "slow client cut off", ["why": "\(why)", "client": "\(address)"])
        GatewayMetrics.shared.cutOff.increment()
        if case .output(.all) = reason { GatewayMetrics.shared.outputFull.increment() }
        isClosed = true
        handle(.connectionLost, on: shard)
        shard.remove(self)
        outlet.closeAtOnce()
    }

    /// The client's address, for people.
    var address: String { remote?.clientAddress ?? "unknown" }

    /// The address under which the connection is counted; nil when it is not counted.
    var addressKey: ClientAddress? { shard.addressLimiter.key(of: remote) }

    /// Closes the connection if its client has been silent for too long.
    func sweep(now: LocalTime, on shard: isolated GatewayShard) {
        let environment = shard.environment
        if environment.enforcesTokenExpiry { handle(.session(.tokenCheck), on: shard) }
        if let before = pause?.waitingAtSweep {
            // While a large answer goes over a slow network, the client counts as alive as long as some of it gets
            // through.
            let waiting = (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
            if waiting < before { lastRead = now }
            pause?.waitingAtSweep = waiting
        }
        let isLoginOverdue = owesLogin && loginDeadline < now
        let isIdle = now - lastRead > environment.idleTimeout || media?.isIdle(now: now) == true
        if isLoginOverdue || isIdle {
            GatewayMetrics.shared.timedOut.increment()
            handle(.close(.goingAway), on: shard)
        }
    }

    /// Sends a close frame after everything written before, then closes the connection.
    func close(_ code: WebSocketCloseCode, on shard: isolated GatewayShard) {
        shard.remove(self)
        guard !isClosed else { return }
        isClosed = true
        var frame = ByteBuffer()
        frame.writeWebSocketFrame(.close, code.payload)
        outlet.sendLast(frame)
    }
}
