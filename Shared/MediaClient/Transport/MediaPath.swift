internal import CMedia
internal import MediaEngineLogic
internal import NIOCore
internal import NIOPosix

/// The way between a client and its media node: a UDP socket, its checks, keys and reports. Bound to its event loop.
final class MediaPath {
    /// What comes of a path.
    enum Arrival {
        /// A packet of a slot.
        case audio(AudioDatagram, size: Int)
        /// Anything else that only the node can have sent.
        case sign(size: Int)
    }

    /// Checks are sent this often until the node has answered.
    static let firstChecks: MediaInterval = .milliseconds(100)
    /// And later when nothing has come for so long: a client that is silent and hears nobody must know that the node is
    /// there.
    static let quiet: MediaInterval = .milliseconds(300)
    /// And anyhow, so that the node keeps sending (`Docs/media.md`).
    static let keepAlive: MediaInterval = .milliseconds(2500)

    let transport: TransportAnswer
    private let eventLoop: any EventLoop
    private let onArrival: (Arrival) -> Void
    private var checks: PathChecks
    private var sender: SRTPSender
    private var receiver: SRTPReceiver
    private(set) var reports: PathReports
    private var channel: (any Channel)?
    private var isClosed = false
    private var isConnecting = false
    private var lastCheck: MediaInstant?
    private var latest: MediaInstant?
    private var checkTrip: MediaInterval?
    /// Datagrams that were not of the node, or could not be sent.
    private(set) var dropped = 0

    /// - Parameters:
    ///   - name: the canonical name in reports.
    ///   - onArrival: called on the event loop for what is authentic.
    init(
        _ transport: TransportAnswer, keys: EngineKeys, name: String, eventLoop: any EventLoop,
        onArrival: @escaping (Arrival) -> Void
    ) {
        self.transport = transport
        self.eventLoop = eventLoop
        self.onArrival = onArrival
        checks = PathChecks(ufrag: transport.ufrag, password: transport.password)
        sender = SRTPSender(key: keys.client)
        receiver = SRTPReceiver(key: keys.server)
        reports = PathReports(ssrc: transport.ssrc, name: name)
    }

    /// Whether the node has shown itself.
    var hasBegun: Bool { latest != nil }

    /// The round trip to the node.
    var roundTrip: MediaInterval? { reports.roundTrip ?? checkTrip }

    /// Sends a packet; counts it as dropped while there is no socket.
    /// - Returns: the bytes that were sent.
    func send(_ packet: OutgoingAudio.Packet) -> Int {
        guard hasBegun else { return 0 }
        var bytes = packet.bytes
        do {
            try sender.protectRTP(&bytes)
        } catch {
            dropped += 1
            return 0
        }
        return write(bytes)
    }

    /// Sends a report of what was sent and received.
    /// - Returns: the bytes that were sent.
    func report(of audio: OutgoingAudio, now: MediaInstant) -> Int {
        guard hasBegun else { return 0 }
        var bytes = reports.report(
            packets: audio.packets, bytes: audio.payloadBytes, timestamp: audio.timestamp, now: now)
        do {
            try sender.protectRTCP(&bytes)
        } catch {
            dropped += 1
            return 0
        }
        return write(bytes)
    }

    /// Opens the socket when there is none, and checks when it is time.
    /// - Returns: the bytes that were sent.
    func advance(now: MediaInstant) -> Int {
        guard channel != nil else {
            connect()
            return 0
        }
        let pause = hasBegun ? Self.keepAlive : Self.firstChecks
        let isQuiet = latest.map { now - $0 >= Self.quiet } ?? false
        let since = lastCheck.map { now - $0 } ?? .seconds(60)
        guard since >= pause || isQuiet && since >= Self.quiet else { return 0 }
        lastCheck = now
        return write(checks.request(now: now))
    }

    /// Closes the socket; nothing comes after that.
    func close() {
        isClosed = true
        channel?.close(promise: nil)
        channel = nil
    }

    // MARK: - The socket

    private func connect() {
        guard !isConnecting, !isClosed else { return }
        isConnecting = true
        let handler = NIOLoopBound(Receiver(self), eventLoop: eventLoop)
        DatagramBootstrap(group: eventLoop)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Int(CM_PACKET_SIZE) + 1))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(handler.value)
                }
            }
            .connect(host: transport.host, port: transport.port)
            .assumeIsolated().whenComplete { [self] result in
                isConnecting = false
                guard case .success(let channel) = result else { return }
                guard !isClosed else { return channel.close(promise: nil) }
                self.channel = channel
            }
    }

    private func write(_ bytes: [UInt8]) -> Int {
        guard let channel, !bytes.isEmpty else {
            dropped += 1
            return 0
        }
        channel.writeAndFlush(channel.allocator.buffer(bytes: bytes), promise: nil)
        return bytes.count
    }

    /// The network has refused the socket, as after a change of networks: the next check goes out from another one.
    fileprivate func socketFailed(_ failed: any Channel) {
        failed.close(promise: nil)
        guard let channel, channel === failed else { return }
        self.channel = nil
    }

    // MARK: - What comes

    /// Takes the datagram for itself, so that it is decrypted where it is.
    fileprivate func receive(_ bytes: consuming [UInt8]) {
        guard !isClosed else { return }
        let now = MediaInstant.now
        switch cm_kind_of(bytes, bytes.count) {
        case CM_KIND_STUN: receiveCheck(bytes, now: now)
        case CM_KIND_RTP: receiveAudio(bytes, now: now)
        case CM_KIND_RTCP: receiveReport(bytes, now: now)
        default: dropped += 1
        }
    }

    private func receiveCheck(_ bytes: [UInt8], now: MediaInstant) {
        guard case .answered(let trip) = checks.receive(bytes, now: now) else {
            dropped += 1
            return
        }
        checkTrip = trip
        latest = now
        onArrival(.sign(size: bytes.count))
    }

    private func receiveAudio(_ packet: consuming [UInt8], now: MediaInstant) {
        let size = packet.count
        do {
            try receiver.unprotectRTP(&packet)
        } catch {
            dropped += 1
            return
        }
        latest = now
        guard let datagram = AudioDatagram(packet, payloadType: transport.payloadType),
            transport.slots.contains(datagram.ssrc)
        else { return onArrival(.sign(size: size)) }
        reports.receive(datagram, now: now)
        onArrival(.audio(datagram, size: size))
    }

    private func receiveReport(_ report: consuming [UInt8], now: MediaInstant) {
        let size = report.count
        do {
            try receiver.unprotectRTCP(&report)
        } catch {
            dropped += 1
            return
        }
        latest = now
        reports.receive(report: report, now: now)
        onArrival(.sign(size: size))
    }
}

/// Hands a socket's datagrams to its path.
private final class Receiver: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private weak var path: MediaPath?

    init(_ path: MediaPath) { self.path = path }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        path?.receive(Array(unwrapInboundIn(data).data.readableBytesView))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { path?.socketFailed(context.channel) }
}

extension MediaInstant {
    /// The steady clock of this machine.
    static var now: MediaInstant { MediaInstant(microseconds: Int64(NIODeadline.now().uptimeNanoseconds / 1000)) }
}
