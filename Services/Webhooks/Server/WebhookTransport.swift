internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import SignalingProtocol
internal import WebhooksLogic

/// Makes requests to receivers: each on a connection of its own, to an address that was checked, within a time limit, without following
/// redirections.
final class WebhookTransport: Sendable {
    /// The number of look-ups of names at once: each occupies a thread for as long as it takes.
    private static let lookups = 16
    /// How many of a host's addresses are tried.
    private static let addresses = 4

    private let timeout: TimeAmount
    private let tls: NIOSSLContext
    private let group = MultiThreadedEventLoopGroup.singleton
    private let resolvers = NIOThreadPool(numberOfThreads: lookups)

    /// - Parameter authorityFile: a PEM file with authorities besides the system's; nil for none.
    /// - Throws: when the file cannot be read.
    init(timeout: Duration, authorityFile: String?) throws {
        self.timeout = TimeAmount(timeout)
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let authorityFile { configuration.additionalTrustRoots = [.file(authorityFile)] }
        tls = try NIOSSLContext(configuration: configuration)
        resolvers.start()
    }

    /// Ends the threads for look-ups, once those under way are done.
    func close() async { try? await resolvers.shutdownGracefully() }

    /// Posts JSON.
    /// - Parameters:
    ///   - signature: the value of `Heliograph-Signature`.
    ///   - allowsPrivate: whether addresses of private, loopback and link-local networks are used.
    func post(
        _ body: String, to url: WebhookURL, signature: String, allowsPrivate: Bool
    ) async -> WebhookOutcome {
        let loop = group.next()
        let answer = loop.makePromise(of: Int.self)
        let deadline = NIODeadline.now() + timeout
        let limit = loop.scheduleTask(deadline: deadline) {
            answer.fail(WebhookFailure(.timeout, "no answer in time"))
        }
        let exchange = Task {
            do {
                let places = try await resolve(url, allowsPrivate: allowsPrivate)
                let channel = try await connect(places, url, on: loop, answer, deadline)
                // Whatever ends the request ends the connection.
                answer.futureResult.whenComplete { _ in channel.close(promise: nil) }
                try await write(body, to: url, signature, on: channel)
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
            return WebhookOutcome(status: try await answer.futureResult.get())
        } catch let error as WebhookFailure {
            return .failed(error)
        } catch {
            return .failed(WebhookFailure(.broken, "the connection broke: \(Self.text(error))"))
        }
    }

    private func connect(
        _ places: [SocketAddress], _ url: WebhookURL, on loop: any EventLoop, _ answer: EventLoopPromise<Int>,
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
        _ url: WebhookURL, on loop: any EventLoop, _ answer: EventLoopPromise<Int>, _ time: TimeAmount
    ) -> ClientBootstrap {
        ClientBootstrap(group: loop).connectTimeout(time).channelInitializer { [tls] channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                if url.isSecure {
                    // Numeric addresses cannot be named in the handshake; certificates are checked against them nevertheless.
                    let isNumeric = (try? SocketAddress(ipAddress: url.host, port: 0)) != nil
                    try pipeline.addHandler(
                        NIOSSLClientHandler(context: tls, serverHostname: isNumeric ? nil : url.host))
                }
                try pipeline.addHTTPClientHandlers()
                try pipeline.addHandler(AnswerHandler(answer))
            }
        }
    }

    private func write(
        _ body: String, to url: WebhookURL, _ signature: String, on channel: any Channel
    ) async throws {
        let buffer = channel.allocator.buffer(string: body)
        var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: url.target)
        head.headers = [
            "Host": url.authority, "Content-Type": "application/json", "Content-Length": "\(buffer.readableBytes)",
            "User-Agent": "Heliograph", "Connection": "close", "Heliograph-Signature": signature,
        ]
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.write(HTTPClientRequestPart.body(.byteBuffer(buffer)), promise: nil)
        // A receiver may answer before it has read everything; so it is its answer that counts, not this.
        try? await channel.writeAndFlush(HTTPClientRequestPart.end(nil)).get()
    }

    /// Looks up a host, and keeps the addresses that may be used. The connection goes to one of these, not to the name: a name that leads
    /// elsewhere the next moment does not matter.
    private func resolve(_ url: WebhookURL, allowsPrivate: Bool) async throws -> [SocketAddress] {
        let found = try await resolvers.runIfActive { Self.lookUp(url.host, url.port) }
        guard !found.isEmpty else { throw WebhookFailure(.name, "the host's name has no address") }
        let usable = found.filter { allowsPrivate || AddressRule.isPublic(Self.bytes(of: $0)) }
        guard !usable.isEmpty else {
            throw WebhookFailure(.address, "the host is in a private, loopback or link-local network")
        }
        return Array(usable.prefix(Self.addresses))
    }

    private static func lookUp(_ host: String, _ port: Int) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee {
            switch entry.ai_family {
            case AF_INET:
                entry.ai_addr.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    found.append(SocketAddress($0.pointee))
                }
            case AF_INET6:
                entry.ai_addr.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    found.append(SocketAddress($0.pointee))
                }
            default: break
            }
            next = entry.ai_next
        }
        return found
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

/// Takes the status of an answer. Of its body only a bounded part is read, and ignored.
private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    /// The bytes of an answer's body that are read.
    private static let bodyBytes = 65_536

    private let answer: EventLoopPromise<Int>
    private var status: Int?
    private var read = 0

    init(_ answer: EventLoopPromise<Int>) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): status = Int(head.status.code)
        case .body(let part):
            read += part.readableBytes
            if read > Self.bodyBytes { finish() }
        case .end: finish()
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is NIOSSLError || error is BoringSSLError {
            answer.fail(WebhookFailure(.connect, "TLS failed"))
        }
        finish()
        context.close(promise: nil)
    }

    private func finish() {
        if let status {
            answer.succeed(status)
        } else {
            answer.fail(WebhookFailure(.broken, "the connection ended without an answer"))
        }
    }
}
