internal import ArgumentParser
internal import BusProtocol
internal import ClusterState
internal import MessageStore
internal import NIOCore
internal import PostgresStore
internal import RedisClient
internal import ServiceKit
internal import SignalingProtocol
internal import SignalingWire

/// `heliographctl send`.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Sends a message to a user or a channel.",
        discussion: """
            As an app's server does by the server API, without a session: the sender need not exist. A user gets the message at \
            once, or with the next login within --ttl; a channel's members get it at once. Redis is found by \
            HELIOGRAPH_REDIS_URL (default \(ControlRedis.standardURL)).
            """)

    @Option(help: "The app.")
    var app: AppID

    @Option(help: "The receiver's account.")
    var user: Account?

    @Option(help: "The receiving channel.")
    var channel: ChannelName?

    @Option(help: "The account that the message seems to come from.")
    var from: Account

    @Option(help: "Seconds for which the message waits for a user: 0 to 2592000 (30 days).")
    var ttl: Int?

    @Argument(help: "The text: up to 8192 bytes.")
    var message: String

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (user != nil) != (channel != nil) else { throw ValidationError("give either --user or --channel") }
        guard channel == nil || ttl == nil else {
            throw ValidationError("--ttl is for --user: a channel's message does not wait")
        }
        guard (0...Limits.messageTimeToLive).contains(ttl ?? 0) else {
            throw ValidationError("--ttl must be 0...\(Limits.messageTimeToLive)")
        }
        guard message.utf8.count <= Limits.messageBytes else {
            throw ValidationError("the message may have up to \(Limits.messageBytes) bytes")
        }
        guard channel?.special == nil else {
            throw ValidationError("only the system sends messages in the special channels")
        }
        try UserOptions.requireNewName(from, of: "--from")
        if let user { try UserOptions.requireNewName(user, of: "--user") }
        guard channel.map({ (try? ChannelName(new: $0.rawValue)) != nil }) ?? true else {
            throw ValidationError("--channel must not be . or ..: no client can join that")
        }
    }

    func run() async throws {
        try await Failure.reported {
            try await Database.with { pool in
                guard let settings = try await AppStore(pool: pool).settings(of: app) else {
                    throw AppCommand.unknown(app)
                }
                try await ControlRedis.withConnection(libraries: [.messages, .streams]) { connection in
                    if let user { try await send(to: user, settings, connection) }
                    if let channel { try await send(to: channel, settings, connection) }
                }
            }
        }
    }

    /// No process has this id: it is only compared with the one that holds a session.
    private static let gateway = GatewayID("heliographctl")

    private func send(to account: Account, _ settings: AppSettings, _ connection: RedisClient) async throws {
        let seconds = ttl ?? Limits.messageTimeToLive
        var instant = InstantMessage(
            to: UserKey(app: app, account: account), from: UserKeys(UserKey(app: app, account: from)), in: .server,
            line: MessageLine.instant(
                from: from, to: account, ttl: seconds, time: WallClock.seconds, content: message),
            seconds: seconds)
        instant.command = CommandID("send-\(SecureRandom.hex(bytes: 12))")
        instant.bounds = MailboxBounds(settings.limits)
        instant.told = settings.messageEvents.map { ToldMessage(message, from: from, as: $0) }
        let result = await withCheckedContinuation { sent in
            connection.eventLoop.execute { [instant] in
                MailboxBatch(connection: connection, gateway: Self.gateway).send(instant) { sent.resume(returning: $0) }
            }
        }
        switch result {
        case .success(let version):
            output.show(
                Sent(name: "version", number: version, line: "sent; in the mailbox of \(account) as \(version)"))
        case .failure(let error): throw Self.failure(error)
        }
    }

    private func send(to channel: ChannelName, _ settings: AppSettings, _ connection: RedisClient) async throws {
        var published = ChannelMessage(
            channel: ChannelKey(app: app, name: channel), account: from, uid: 0, body: message)
        published.fence = SessionFence(session: .server, gateway: Self.gateway)
        published.force = true
        published.limitPerSecond = settings.limits.channelMessagesPerSecond
        published.told = settings.messageEvents
        published.command = CommandID("send-\(SecureRandom.hex(bytes: 12))")
        let result: Result<ChannelMessageSent, SignalingError> = await withCheckedContinuation { done in
            connection.eventLoop.execute { [published] in
                MessageStore(connection: connection).sendToChannel(published) { done.resume(returning: $0) }
            }
        }
        switch result {
        case .success(let sent):
            output.show(
                Sent(
                    name: "id", number: sent.id,
                    line: sent.id == 0 ? "nobody is in \(channel): nobody got it" : "sent to \(channel) as \(sent.id)"))
        case .failure(let error): throw Self.failure(error)
        }
    }

    private static func failure(_ error: SignalingError) -> Failure {
        .refused("the message was not accepted: \(error)")
    }

    /// What became of the message.
    private struct Sent: Printable {
        let name: String
        let number: Int64
        let line: String

        var members: [JSONMember] { [JSONMember(name, number)] }
        var lines: [String] { [line] }
    }
}
