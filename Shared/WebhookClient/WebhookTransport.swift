internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
package import SignalingProtocol
internal import Synchronization

/// Makes requests to apps' servers: each on a connection of its own, to an address that was checked, within a time
/// limit, without following redirections.
package final class WebhookTransport: Sendable {
    /// The bytes of an answer's head at most, with the heads of informational answers (1xx) before it.
    package static let headBytes = 16_384
    /// How many of a host's addresses are tried.
    private static let addresses = 4

    private let tls: Mutex<NIOSSLContext?>
    private let group = MultiThreadedEventLoopGroup.singleton
    private let lookup: HostLookup

    /// For requests to servers that the system's authorities vouch for.
    /// - Parameter kept: how long a host's addresses are used before it is looked up again.
    package init(addressesKeptFor kept: Duration = .zero) {
        tls = Mutex(nil)
        lookup = HostLookup(kept: kept)
    }

    /// - Parameters:
    ///   - authorityFile: a PEM file with authorities besides the system's; nil for none.
    ///   - kept: how long a host's addresses are used before it is looked up again.
    /// - Throws: when the file cannot be read.
    package init(authorityFile: String?, addressesKeptFor kept: Duration = .zero) throws {
        tls = Mutex(try authorityFile.map { try Self.context(authorityFile: $0) })
        lookup = HostLookup(kept: kept)
    }

    /// The context of TLS, made when it is needed first: the system's authorities take some megabytes.
    private func context() throws -> NIOSSLContext {
        try tls.withLock { context in
            if let context { return context }
            let made = try Self.context(authorityFile: nil)
            context = made
            return made
        }
    }

    private static func context(authorityFile: String?) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if let authorityFile { configuration.additionalTrustRoots = [.file(authorityFile)] }
        return try NIOSSLContext(configuration: configuration)
    }

    /// Ends the threads for look-ups, once those under way are done.
    package func close() async { await lookup.close() }

    /// What is posted.
    package struct Message: Sendable {
        /// JSON.
        package var body: String
        /// The value of `Heliograph-Signature`.
        package var signature: String

        package init(_ body: String, signature: String) {
            self.body = body
            self.signature = signature
        }
    }

    /// Where it is posted to.
    package struct Destination: Sendable {
        package var url: WebhookURL
        /// Which networks besides the Internet are used.
        package var allowed: AllowedNetworks

        package init(_ url: WebhookURL, allowed: AllowedNetworks) {
            self.url = url
            self.allowed = allowed
        }
    }

    /// Posts a message.
    /// - Parameters:
    ///   - time: from the look-up of the host's name to the end of the answer.
    ///   - answerBytes: how much of the answer's body is read.
    package func post(
        _ message: Message, to destination: Destination, within time: Duration, answerBytes: Int
    ) async -> Result<WebhookAnswer, WebhookFailure> {
        let loop = group.next()
        let answer = loop.makePromise(of: WebhookAnswer.self)
        let handled = AnswerHandler.Promise(answer, bound: answerBytes)
        let deadline = NIODeadline.now() + TimeAmount(time)
        let limit = loop.scheduleTask(deadline: deadline) {
            answer.fail(WebhookFailure(.timeout, "no answer in time"))
        }
        let exchange = Task {
            do {
                let places = try await resolve(destination)
                let channel = try await connect(places, destination.url, on: loop, handled, deadline)
                // Whatever ends the request ends the connection.
                answer.futureResult.whenComplete { _ in channel.close(promise: nil) }
                try await write(message, to: destination.url, on: channel)
            } catch let error as WebhookFailure {
                answer.fail(error)
            } catch {
                answer.fail(WebhookFailure(.broken, "the connection broke: \(Self.text(error))"))
            }
        }
        defer {
            limit.cancel()
            exchange.cancel()
        }
        do {
            return .success(try await answer.futureResult.get())
        } catch let error as WebhookFailure {
            return .failure(error)
        } catch {
            return .failure(WebhookFailure(.broken, "the connection broke: \(Self.text(error))"))
        }
    }

    private func connect(
        _ places: [SocketAddress], _ url: WebhookURL, on loop: any EventLoop, _ answer: AnswerHandler.Promise,
        _ deadline: NIODeadline
    ) async throws -> any Channel {
        var failure = WebhookFailure(.connect, "no address")
        for place in places where NIODeadline.now() < deadline {
            do {
                return try await bootstrap(url, on: loop, answer, deadline - NIODeadline.now()).connect(to: place).get()
            } catch {
                failure = WebhookFailure(.connect, "could not connect: \(Self.text(error))")
            }
        }
        throw failure
    }

    private func bootstrap(
        _ url: WebhookURL, on loop: any EventLoop, _ answer: AnswerHandler.Promise, _ time: TimeAmount
    ) -> ClientBootstrap {
        ClientBootstrap(group: loop).connectTimeout(time).channelInitializer { [self] channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                if url.isSecure {
                    // Numeric addresses cannot be named in the handshake; certificates are
                    // checked against them nevertheless.
                    let isNumeric = (try? SocketAddress(ipAddress: url.host, port: 0)) != nil
                    try pipeline.addHandler(
                        NIOSSLClientHandler(context: context(), serverHostname: isNumeric ? nil : url.host))
                }
                let answers = AnswerHandler(answer)
                try pipeline.addHandler(HeadBound(of: answers))
                try pipeline.addHTTPClientHandlers(decoderLimitConfiguration: Self.limits)
                try pipeline.addHandler(answers)
            }
        }
    }

    private static let limits = {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = headBytes
        limits.maxHeaderListSize = headBytes
        return limits
    }()

    private func write(_ message: Message, to url: WebhookURL, on channel: any Channel) async throws {
        let buffer = channel.allocator.buffer(string: message.body)
        var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: url.target)
        head.headers = [
            "Host": url.authority, "Content-Type": "application/json", "Content-Length": "\(buffer.readableBytes)",
            "User-Agent": "Heliograph", "Connection": "close", "Heliograph-Signature": message.signature,
        ]
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.write(HTTPClientRequestPart.body(.byteBuffer(buffer)), promise: nil)
        // A receiver may answer before it has read everything; so it is its answer that counts, not this.
        try? await channel.writeAndFlush(HTTPClientRequestPart.end(nil)).get()
    }

    /// A host's addresses that may be used. The connection goes to one of these, not to the name: a name that leads
    /// elsewhere the next moment does not matter.
    private func resolve(_ destination: Destination) async throws -> [SocketAddress] {
        let found = try await lookup.addresses(of: destination.url.host, destination.url.port)
        guard !found.isEmpty else { throw WebhookFailure(.name, "the host's name has no address") }
        let usable = found.filter { AddressRule.isUsable(Self.bytes(of: $0), destination.allowed) }
        guard !usable.isEmpty else {
            throw WebhookFailure(
                .address, "the host is in a private, loopback or link-local network that is not allowed")
        }
        return Array(usable.prefix(Self.addresses))
    }

    private static func bytes(of address: SocketAddress) -> [UInt8] {
        let text = address.ipAddress ?? ""
        let isSix = text.contains(":")
        var bytes = [UInt8](repeating: 0, count: isSix ? 16 : 4)
        return inet_pton(isSix ? AF_INET6 : AF_INET, text, &bytes) == 1 ? bytes : []
    }

    /// An error's kind without the details that NIO adds, such as where in its sources it occurred.
    private static func text(_ error: any Error) -> String {
        switch error {
        case let error as IOError: String(decoding: String(cString: strerror(error.errnoCode)).utf8, as: UTF8.self)
        case is NIOSSLError, is BoringSSLError: "TLS failed"
        case is ChannelError: "the connection ended"
        default: "\(type(of: error))"
        }
    }
}

/// Counts the bytes that come before the answer's head has ended. The decoder bounds each head by itself, but passes
/// over any number of informational ones.
private final class HeadBound: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let answer: AnswerHandler
    private var bytes = 0

    init(of answer: AnswerHandler) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !answer.hasHead else { return context.fireChannelRead(data) }
        bytes += unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
        if bytes > WebhookTransport.headBytes, !answer.hasHead {
            context.fireErrorCaught(HTTPParserError.headerOverflow)
        }
    }
}

/// Takes an answer: its status, and a bounded part of its body.
private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    /// What becomes of the answer, and how much of its body is read.
    struct Promise: Sendable {
        let promise: EventLoopPromise<WebhookAnswer>
        let bound: Int

        init(_ promise: EventLoopPromise<WebhookAnswer>, bound: Int) {
            self.promise = promise
            self.bound = bound
        }
    }

    private let answer: Promise
    private var status: Int?
    private var body: [UInt8] = []

    init(_ answer: Promise) { self.answer = answer }

    /// Whether the head of the answer has come.
    var hasHead: Bool { status != nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): status = Int(head.status.code)
        case .body(let part):
            let room = answer.bound - body.count
            body.append(contentsOf: part.readableBytesView.prefix(room))
            if part.readableBytes > room { finish() }
        case .end: finish(isWhole: true)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is NIOSSLError || error is BoringSSLError {
            answer.promise.fail(WebhookFailure(.connect, "TLS failed"))
        } else if error as? HTTPParserError == .headerOverflow, !hasHead {
            answer.promise.fail(
                WebhookFailure(.broken, "the answer's head has more than \(WebhookTransport.headBytes) bytes"))
        }
        finish()
        context.close(promise: nil)
    }

    private func finish(isWhole: Bool = false) {
        if let status {
            answer.promise.succeed(WebhookAnswer(status: status, body: body, isWhole: isWhole))
        } else {
            answer.promise.fail(WebhookFailure(.broken, "the connection ended without an answer"))
        }
    }
}
