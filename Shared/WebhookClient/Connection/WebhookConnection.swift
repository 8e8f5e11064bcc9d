internal import BusProtocol
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import SignalingProtocol

/// A connection to an app's server, for one request at a time.
struct WebhookConnection: Sendable, Identifiable {
    /// Where a connection leads, and for whom it may be used.
    struct Place: Hashable {
        private let isSecure: Bool
        private let host: String
        private let port: Int
        /// A connection was made to an address of these networks, so it serves only who may use them.
        private let allowed: AllowedNetworks

        init(_ destination: WebhookTransport.Destination) {
            isSecure = destination.url.isSecure
            host = destination.url.host
            port = destination.url.port
            allowed = destination.allowed
        }
    }

    let channel: any Channel
    private let made: NIODeadline
    private let answers: NIOLoopBound<AnswerHandler>

    var id: ObjectIdentifier { ObjectIdentifier(channel) }

    /// Sets up a new channel.
    /// - Parameter tls: what certificates are checked by; nil without TLS.
    init(_ channel: any Channel, to url: WebhookURL, tls: NIOSSLContext?) throws {
        self.channel = channel
        made = .now()
        let pipeline = channel.pipeline.syncOperations
        if let tls {
            // Numeric addresses cannot be named in the handshake; certificates are checked against them nevertheless.
            let isNumeric = (try? SocketAddress(ipAddress: url.host, port: 0)) != nil
            try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: isNumeric ? nil : url.host))
        }
        let answers = AnswerHandler()
        try pipeline.addHandler(HeadBound(of: answers))
        try pipeline.addHTTPClientHandlers(decoderLimitConfiguration: Self.limits)
        try pipeline.addHandler(answers)
        self.answers = NIOLoopBound(answers, eventLoop: channel.eventLoop)
    }

    private static let limits = {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = WebhookTransport.headBytes
        limits.maxHeaderListSize = WebhookTransport.headBytes
        return limits
    }()

    /// Posts a message. On any thread.
    /// - Parameter answer: succeeds with the answer; fails with ``Unanswered`` when the connection ends without one.
    func post(_ message: WebhookTransport.Message, to url: WebhookURL, _ answer: ExpectedAnswer) {
        channel.eventLoop.execute {
            answers.value.expect(answer)
            var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: url.target)
            let body = channel.allocator.buffer(string: message.body)
            head.headers = [
                "Host": url.authority, "Content-Type": "application/json", "Content-Length": "\(body.readableBytes)",
                "User-Agent": "Heliograph", "Heliograph-Signature": message.signature,
            ]
            channel.write(HTTPClientRequestPart.head(head), promise: nil)
            channel.write(HTTPClientRequestPart.body(.byteBuffer(body)), promise: nil)
            // A receiver may answer before it has read everything; so it is its answer that counts, not this.
            channel.writeAndFlush(HTTPClientRequestPart.end(nil)).whenSuccess { answers.value.isSent = true }
        }
    }

    /// Whether another request may follow: the last one was sent whole and answered whole, and neither side has said
    /// that it was the last. On the channel's loop.
    /// - Parameter age: how old a connection may become. A new one goes to where the host's name leads by then.
    func isReusable(age: TimeAmount) -> Bool {
        channel.isActive && answers.value.isFree && NIODeadline.now() - made < age
    }

    /// Closes the connection when no request comes within a time. On the channel's loop.
    func wait(atMost time: TimeAmount) { answers.value.wait(atMost: time, on: channel) }

    func close() { channel.close(promise: nil) }
}
