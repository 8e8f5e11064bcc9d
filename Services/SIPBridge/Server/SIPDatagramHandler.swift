internal import Logging
internal import Metrics
internal import NIOCore
internal import SIPBridgeLogic

/// Passes datagrams to the responder and its answers back.
final class SIPDatagramHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    private let responder: SIPResponder
    private let logger: Logger
    private let dropped: [SIPDropReason: Counter]
    private let unsent = Counter(label: "heliograph_sip_unsent")

    init(responder: SIPResponder, logger: Logger) {
        self.responder = responder
        self.logger = logger
        dropped = Dictionary(
            uniqueKeysWithValues: SIPDropReason.allCases.map {
                ($0, Counter(label: "heliograph_sip_dropped", dimensions: [("reason", $0.rawValue)]))
            })
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = unwrapInboundIn(data)
        guard let source = envelope.remoteAddress.ipAddress, let sourcePort = envelope.remoteAddress.port else {
            return
        }
        let datagram = Array(envelope.data.readableBytesView)
        switch responder.outcome(of: datagram, sourceAddress: source, sourcePort: sourcePort) {
        case .drop(let reason):
            dropped[reason]?.increment()
            logger.debug("SIP datagram dropped", metadata: ["reason": "\(reason.rawValue)", "source": "\(source)"])
        case .reply(let reply):
            let dimensions = [("method", reply.method), ("status", String(reply.status))]
            Counter(label: "heliograph_sip_requests", dimensions: dimensions).increment()
            guard context.channel.isWritable else {
                // The sender will ask again; answers must not pile up.
                unsent.increment()
                return
            }
            var destination = envelope.remoteAddress
            destination.port = reply.port
            let answer = AddressedEnvelope(remoteAddress: destination, data: ByteBuffer(bytes: reply.bytes))
            context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Such as an ICMP "unreachable" for an earlier answer: the listener stays up.
        logger.debug("SIP socket error", metadata: ["error": "\(error)"])
    }
}
