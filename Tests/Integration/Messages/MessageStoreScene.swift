import BusProtocol
import ClusterBus
import ClusterState
import MessageStore
import NIOCore
import RedisClient
import SignalingProtocol
import TestKit

/// A message store over a Redis of its own, and what it publishes there.
struct MessageStoreScene: Sendable {
    let redis: RedisScene
    let store: MessageStore
    let batch: Unshared<MailboxBatch>
    /// The sender of messages, in the session ``sending``.
    let sender: UserKey
    let sending = SessionID("s0")
    let user: UserKey
    let channel: ChannelKey
    let gateway = GatewayID("gateway-1")

    static func run(appendOnly: Bool = false, _ body: (MessageStoreScene) async throws -> Void) async throws {
        try await RedisScene.run(appendOnly: appendOnly, libraries: [.messages, .streams]) { redis in
            let app = try AppID("a:{}%")
            let scene =
                MessageStoreScene(
                    redis: redis, store: MessageStore(connection: redis.connection),
                    batch: Unshared(MailboxBatch(connection: redis.connection, gateway: GatewayID("gateway-1"))),
                    sender: UserKey(app: app, account: try Account("a:s{nder")),
                    user: UserKey(app: app, account: try Account("b:o}b")),
                    channel: ChannelKey(app: app, name: try ChannelName("the {room}: 1")))
            try await scene.open(scene.sending.rawValue, of: scene.sender)
            try await body(scene)
        }
    }

    @discardableResult
    func command(_ name: String, _ arguments: RedisArgument...) async throws -> RedisValue {
        try await redis.connection.execute(RedisCommand(name, arguments: arguments))
    }

    /// Writes the fields of a session record that sending messages depends on.
    func open(_ session: String, of user: UserKey, at gateway: String = "gateway-1") async throws {
        try await command(
            "HSET", .string(KeySpace.tag(user) + ":box"), "sid", .string(session), "gateway", .string(gateway))
    }

    /// Records the user's session as presence does.
    func openSession(_ session: String, state: String = "online", openver: Int64 = 0) async throws {
        let online = state == "online"
        try await command(
            "HSET", .string(KeySpace.tag(user) + ":session"), "sid", .string(session), "gateway",
            .string(gateway.rawValue), "state", .string(state), "openver", .int64(openver))
        try await open(session, of: user, at: online ? gateway.rawValue : "")
    }

    func endSession() async throws {
        try await command("DEL", .string(KeySpace.tag(user) + ":session"))
        try await command("HSET", .string(KeySpace.tag(user) + ":box"), "sid", "", "gateway", "")
    }

    /// Makes someone a member as channel-state does.
    func admit(_ account: Account) async throws {
        try await command("HSET", .string(KeySpace.tag(channel) + ":info"), .string(account.rawValue), "7 s1")
        try await command("ZADD", .string(KeySpace.tag(channel) + ":members"), 1, .string(account.rawValue))
    }

    @discardableResult
    func send(
        _ line: String, ttl: Int64 = 60_000, _ condition: UserMessage.Condition = .always, bound: Int = 100,
        command: CommandID? = nil
    ) async throws -> MessageQueued {
        var message = UserMessage(to: user, line: line, timeToLive: .milliseconds(ttl), condition: condition)
        message.bounds = MailboxBounds(entries: bound)
        message.command = command
        return try await store.sendToUser(message)
    }

    func say(
        _ body: String, by account: Account, in fence: SessionFence? = nil, force: Bool = false
    ) async throws -> ChannelMessageSent {
        var message = message(body, by: account)
        message.fence = fence
        message.force = force
        return try await store.sendToChannel(message)
    }

    /// Sends a message as a bounded number of others may be sent per second.
    func say(_ body: String, by account: Account, limit: Int) async throws -> ChannelMessageSent {
        var message = message(body, by: account)
        message.limitPerSecond = limit
        return try await store.sendToChannel(message)
    }

    /// Sends a message by a command, which may be repeated.
    func say(_ body: String, by account: Account, command: CommandID) async throws -> ChannelMessageSent {
        var message = message(body, by: account)
        message.command = command
        return try await store.sendToChannel(message)
    }

    private func message(_ body: String, by account: Account) -> ChannelMessage {
        ChannelMessage(channel: channel, account: account, uid: 7, body: body)
    }

    func read(after version: Int64 = 0, limit: Int = 100, fresh: Bool = false) async throws -> MailboxPage {
        try await inSession { fence in
            let section = MailboxSection(after: version, limit: limit, fresh: fresh)
            return try await onLoop { store.readMailbox(user, in: fence, section, $0) }
        }
    }

    func read(in fence: SessionFence) async throws -> MailboxPage {
        let section = MailboxSection(after: 0, limit: 100, fresh: false)
        return try await onLoop { store.readMailbox(user, in: fence, section, $0) }
    }

    @discardableResult
    func clear(in fence: SessionFence, through version: Int64) async throws -> Int64 {
        try await onLoop { batch.value.clear(user, in: fence.session, through: version, $0) }
    }

    /// Acts in the user's session, which is created if there is none.
    private func inSession<Answer>(_ act: (SessionFence) async throws -> Answer) async throws -> Answer {
        let box = KeySpace.tag(user) + ":box"
        let known = try await command("HMGET", .string(box), "sid", "gateway").array ?? []
        if let session = known.first?.string, !session.isEmpty {
            let gateway = known[1].string ?? ""
            return try await act(
                SessionFence(session: SessionID(session), gateway: gateway.isEmpty ? self.gateway : GatewayID(gateway)))
        }
        try await open("a look", of: user, at: "")
        let answer = try await act(SessionFence(session: SessionID("a look"), gateway: gateway))
        try await open("", of: user, at: "")
        return answer
    }

    func lines() async throws -> [String] { try await read().entries.map(\.line) }

    @discardableResult
    func clear(through version: Int64) async throws -> Int64 {
        try await inSession { fence in try await clear(in: fence, through: version) }
    }

    /// One message for ``sendTogether(_:)``.
    struct Message {
        var to: UserKey
        /// The sender; nil: the scene's.
        var from: UserKey?
        var session: SessionID?
        var line: String
        var seconds = 60
        var bound = 100
        var bytes = Limits.mailboxBytes
        var command: CommandID?
        /// Who is told of it; nil: nobody.
        var told: MessageEvents?
    }

    /// Sends messages in one turn of the event loop, so that they go into one batch.
    func sendTogether(_ messages: [Message]) async -> [Result<Int64, SignalingError>] {
        let results = Recording<(Int, Result<Int64, SignalingError>)>()
        redis.eventLoop.execute {
            for (index, message) in messages.enumerated() {
                var sent = InstantMessage(
                    to: message.to, from: UserKeys(message.from ?? sender), in: message.session ?? sending,
                    line: message.line, seconds: message.seconds)
                sent.command = message.command
                sent.bounds = MailboxBounds(entries: message.bound, bytes: message.bytes)
                let from = message.from ?? sender
                sent.told = message.told.map { ToldMessage(message.line, from: from.account, as: $0) }
                batch.value.send(sent) { results.add((index, $0)) }
            }
        }
        try? await results.wait(for: messages.count, "answers")
        return results.all.sorted { $0.0 < $1.0 }.map(\.1)
    }

    func log(after id: Int64, sequence: Int64 = 0, limit: Int = 100) async throws -> ChannelLogPage {
        let position = ChannelPosition(sequence: sequence, id: id)
        return try await onLoop { store.readLog(channel, after: position, limit: limit, $0) }
    }

    /// Reads a field of the user's mailbox record.
    func box(_ field: String) async throws -> Int64? {
        try await command("HGET", .string(KeySpace.tag(user) + ":box"), .string(field)).int
    }

    /// The bytes waiting for the user: as counted by the store, and as present in Redis, where expired and forgotten
    /// entries that were not removed yet are included.
    func waiting() async throws -> (counted: Int64, present: Int64) {
        let (total, off) = (try await box("total") ?? 0, try await box("off") ?? 0)
        let entries = try await command("XRANGE", .string(KeySpace.tag(user) + ":mbox"), "-", "+").array ?? []
        let present = entries.reduce(0) { $0 + ($1.array?[1].array?[1].string?.utf8.count ?? 0) + 64 }
        return (total - off, Int64(present))
    }

    /// Listens to a topic.
    func listen(_ topic: String) async throws -> (Recording<ByteBuffer>, RedisSubscriber) {
        let heard = Recording<ByteBuffer>()
        let subscriber = RedisSubscriber(
            configuration: try redis.server.configuration, eventLoop: redis.eventLoop, logger: RedisScene.logger,
            callbacks: .init(onMessage: { _, payload in heard.add(payload) }))
        subscriber.start()
        let subscribed = Recording<Bool>()
        redis.eventLoop.execute { subscriber.subscribe(topic) { _ in subscribed.add(true) } }
        try await subscribed.wait(for: 1, "subscription")
        return (heard, subscriber)
    }

    private func onLoop<Answer: Sendable>(
        _ act: @escaping @Sendable (@escaping (Result<Answer, SignalingError>) -> Void) -> Void
    ) async throws -> Answer {
        let result: Result<Answer, SignalingError> = await withCheckedContinuation { continuation in
            redis.eventLoop.execute { act { continuation.resume(returning: $0) } }
        }
        return try result.get()
    }
}

/// Wraps a value that is used on one event loop only, so that it can be sent although it is not checked.
///
/// `@unchecked Sendable`: a `NIOLoopBound` can be made on its loop only, and tests make these values elsewhere.
struct Unshared<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

/// The reason of the refusal; the test fails when there was none.
func refusal<Answer>(_ act: () async throws -> Answer) async throws -> String {
    do {
        let answer = try await act()
        throw TestFailure("not refused: \(answer)")
    } catch let error as SignalingError {
        return "\(error.code.rawValue) \(error.reason)"
    }
}
