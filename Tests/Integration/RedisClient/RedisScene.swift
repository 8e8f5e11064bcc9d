import BusProtocol
import ClusterBus
import ClusterState
import Logging
import NIOCore
import NIOPosix
import RedisClient
import SignalingProtocol
import Synchronization
import TestKit

/// Records what callbacks on an event loop report, for the test to read.
final class Recording<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }

    func add(_ element: Element) { elements.withLock { $0.append(element) } }

    /// Waits until there are `count` elements.
    func wait(for count: Int, _ what: String, within deadline: Duration = .seconds(20)) async throws {
        try await waitUntil("\(count) \(what)", within: deadline) { all.count < count ? "only \(all.count)" : nil }
    }
}

/// A Redis of the test's own, with connections to it.
struct RedisScene: Sendable {
    let server: RedisServer
    let connection: RedisClient
    var eventLoop: any EventLoop { connection.eventLoop }

    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Runs a test with a fresh server, which is removed afterwards.
    /// - Parameter libraries: the libraries that the connection keeps loaded; by default those that posts need. With
    ///   none, Redis gets no commands but the test's own.
    static func run(
        appendOnly: Bool = true, libraries: [RedisFunctionLibrary] = [.streams],
        configure: (inout RedisConfiguration) -> Void = { _ in }, _ body: (RedisScene) async throws -> Void
    ) async throws {
        let server = try await RedisServer(appendOnly: appendOnly)
        var configuration = try server.configuration
        configure(&configuration)
        let connection = RedisClient(
            configuration: configuration, eventLoop: MultiThreadedEventLoopGroup.singleton.next(), libraries: libraries,
            logger: logger)
        connection.start()
        let scene = RedisScene(server: server, connection: connection)
        do {
            try await body(scene)
        } catch {
            await connection.close()
            try await server.remove()
            throw error
        }
        await connection.close()
        try await server.remove()
    }

    /// Opens a second connection and waits until it is ready.
    func otherConnection(_ configure: (inout RedisConfiguration) -> Void = { _ in }) async throws -> RedisClient {
        var configuration = try server.configuration
        configure(&configuration)
        let other = RedisClient(
            configuration: configuration, eventLoop: eventLoop, libraries: [.streams], logger: Self.logger)
        other.start()
        try await waitUntil("a connection") { other.isConnected ? nil : "not connected" }
        return other
    }

    /// A number from the answer to INFO.
    func information(_ name: String, section: String) async throws -> Int64 {
        let text = try await connection.execute(RedisCommand("INFO", .string(section))).string ?? ""
        let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix(name + ":") }
        return line.flatMap { Int64($0.dropFirst(name.count + 1)) } ?? -1
    }
}

/// The part of a gateway that sends commands: a topic for the replies, and a sender.
struct RedisGateway: Sendable {
    let id: GatewayID
    let subscriber: RedisSubscriber
    let sender: CommandSender

    init(_ scene: RedisScene, level: Int64 = ClusterLevel.current) async throws {
        let id = GatewayID("gateway-\(SecureRandom.hex(bytes: 4))")
        let sender = CommandSender(
            sender: .gateway(id), connection: scene.connection, logger: RedisScene.logger, level: { level })
        let subscriber = RedisSubscriber(
            configuration: try scene.server.configuration, eventLoop: scene.eventLoop, logger: RedisScene.logger,
            callbacks: .init(
                onMessage: { _, payload in
                    if case .reply(let id, let outcome)? = try? GatewayEvent(payload: payload.readableBytesView) {
                        sender.received(id, outcome)
                    }
                }, onReconnected: { sender.resendPending() }))
        self.id = id
        self.sender = sender
        self.subscriber = subscriber
        subscriber.start()
        // A command sent before the first connection is sent when that is made, and by nothing else.
        try await waitUntil("the commands' connection") { scene.connection.isConnected ? nil : "not connected" }
        let topic = KeySpace.topic(id)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            scene.eventLoop.execute { subscriber.subscribe(topic) { continuation.resume(with: $0) } }
        }
    }

    func send<C: ServiceCommand>(_ command: C, within time: Duration = .seconds(8 * patience)) async -> Result<
        C.Reply, SignalingError
    > {
        await withCheckedContinuation { continuation in
            subscriber.eventLoop.execute { sender.send(command, within: time) { continuation.resume(returning: $0) } }
        }
    }
}
