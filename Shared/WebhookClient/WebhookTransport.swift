package import BusProtocol
internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import SignalingProtocol
internal import Synchronization

/// Makes requests to apps' servers: to addresses that were checked, within a time limit, without following
/// redirections. A connection that was answered over is kept for a moment, for the next request to its place.
package final class WebhookTransport: Sendable {
    /// The bytes of an answer's head at most, with the heads of informational answers (1xx) before it.
    package static let headBytes = 16_384
    /// The bytes of the body of a receiver's answer that are read, though they are ignored: so the connection can be
    /// kept.
    package static let ignoredAnswerBytes = 65_536
    /// How many of a host's addresses are tried.
    private static let addresses = 4
    /// How many connections to one place wait for a next request, and how many in all. Others are closed.
    private static let (keptOfPlace, kept) = (64, 512)
    /// How long a connection waits for a next request: less than the 5 s after which many servers close it.
    private static let keptFor = TimeAmount.seconds(4)
    /// How old a connection becomes: from then on, the host's addresses are looked up and checked again.
    private static let age = TimeAmount.seconds(60)

    private let tls: Mutex<NIOSSLContext?>
    private let group = MultiThreadedEventLoopGroup.singleton
    private let lookup: HostLookup
    private let kept = Mutex(
        KeptConnections<WebhookConnection.Place, WebhookConnection>(placeBound: keptOfPlace, bound: kept))

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

    /// Ends the connections that wait, and the threads for look-ups, once those under way are done.
    package func close() async {
        for connection in kept.withLock({ $0.removeAll() }) { connection.close() }
        await lookup.close()
    }

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

    /// Posts a message. When a connection that was kept turns out to have ended, the message is posted again, over a
    /// new one: a server that breaks off without a byte of an answer may see it twice.
    /// - Parameters:
    ///   - time: from the look-up of the host's name to the end of the answer.
    ///   - answerBytes: how much of the answer's body is read.
    package func post(
        _ message: Message, to destination: Destination, within time: Duration, answerBytes: Int
    ) async -> Result<WebhookAnswer, WebhookFailure> {
        let request = Request(
            message: message, destination: destination, deadline: .now() + TimeAmount(time), answerBytes: answerBytes)
        do {
            if let connection = kept.withLock({ $0.take(to: WebhookConnection.Place(destination)) }) {
                do {
                    return .success(try await answer(to: request, over: connection))
                } catch is Unanswered {}
            }
            return .success(try await answer(to: request, over: nil))
        } catch let error as WebhookFailure {
            return .failure(error)
        } catch is Unanswered {
            return .failure(WebhookFailure(.broken, "the connection ended without an answer"))
        } catch {
            return .failure(WebhookFailure(.broken, "the connection broke: \(Self.text(error))"))
        }
    }

    /// Looks up a destination and connects to it, without a request.
    /// - Returns: why it cannot be reached; nil when it can.
    package func reach(_ destination: Destination, within time: Duration) async -> WebhookFailure? {
        let loop = group.next()
        let deadline = NIODeadline.now() + TimeAmount(time)
        let reached = loop.makePromise(of: Void.self)
        let limit = loop.scheduleTask(deadline: deadline) {
            reached.fail(WebhookFailure(.timeout, "no connection in time"))
        }
        let attempt = Task {
            do {
                try await connect(to: destination, on: loop, until: deadline).close()
                reached.succeed()
            } catch {
                reached.fail(error)
            }
        }
        defer {
            limit.cancel()
            attempt.cancel()
        }
        do {
            try await reached.futureResult.get()
            return nil
        } catch {
            return error as? WebhookFailure ?? WebhookFailure(.connect, "could not connect: \(Self.text(error))")
        }
    }

    private struct Request: Sendable {
        let message: Message
        let destination: Destination
        let deadline: NIODeadline
        let answerBytes: Int
    }

    /// - Parameter connection: one that was kept; nil for a new one.
    private func answer(to request: Request, over connection: WebhookConnection?) async throws -> WebhookAnswer {
        let loop = connection?.channel.eventLoop ?? group.next()
        let answer = loop.makePromise(of: WebhookAnswer.self)
        // Told once the connection is kept, so that the next request finds it.
        let told = loop.makePromise(of: WebhookAnswer.self)
        answer.futureResult.whenFailure { told.fail($0) }
        let limit = loop.scheduleTask(deadline: request.deadline) {
            answer.fail(WebhookFailure(.timeout, "no answer in time"))
        }
        let exchange = Task {
            do {
                let connection =
                    if let connection { connection } else {
                        try await connect(to: request.destination, on: loop, until: request.deadline)
                    }
                answer.futureResult.whenComplete { [self] result in
                    finished(with: connection, to: request.destination)
                    told.completeWith(result)
                }
                connection.post(
                    request.message, to: request.destination.url,
                    ExpectedAnswer(promise: answer, bound: request.answerBytes))
            } catch {
                answer.fail(error)
            }
        }
        defer {
            limit.cancel()
            exchange.cancel()
        }
        return try await told.futureResult.get()
    }

    /// Keeps a connection for the next request, or closes it. On its loop.
    private func finished(with connection: WebhookConnection, to destination: Destination) {
        let isKept =
            connection.isReusable(age: Self.age)
            && kept.withLock { $0.keep(connection, to: WebhookConnection.Place(destination)) }
        if isKept { connection.wait(atMost: Self.keptFor) } else { connection.close() }
    }

    private func connect(
        to destination: Destination, on loop: any EventLoop, until deadline: NIODeadline
    ) async throws -> WebhookConnection {
        let tls = destination.url.isSecure ? try context() : nil
        var failure = WebhookFailure(.connect, "no address")
        for place in try await resolve(destination) where NIODeadline.now() < deadline {
            do {
                let bootstrap = ClientBootstrap(group: loop).connectTimeout(deadline - NIODeadline.now())
                let connection = try await bootstrap.connect(to: place) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try WebhookConnection(channel, to: destination.url, tls: tls)
                    }
                }
                connection.channel.closeFuture.whenComplete { [self] _ in
                    kept.withLock { $0.remove(connection, to: WebhookConnection.Place(destination)) }
                }
                return connection
            } catch {
                failure = WebhookFailure(.connect, "could not connect: \(Self.text(error))")
            }
        }
        throw failure
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
