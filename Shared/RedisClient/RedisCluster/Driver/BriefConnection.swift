internal import Logging
internal import NIOCore

/// Sends commands to one server, on a connection for this purpose only.
///
/// Belongs to its event loop; everything here runs on it.
final class BriefConnection {
    private let link: RedisLink
    private let commands: [RedisCommand]
    private var replies: [RedisValue] = []
    private var completion: ((Result<[RedisValue], RedisError>) -> Void)?
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - commands: at least one.
    ///   - limit: the time limit of all.
    ///   - completion: called once, with the replies or the first failure; an error reply is one.
    init(
        _ commands: [RedisCommand], configuration: RedisConfiguration, eventLoop: any EventLoop, limit: TimeAmount,
        completion: @escaping (Result<[RedisValue], RedisError>) -> Void
    ) {
        self.commands = commands
        // Silent, because whoever asks says what has failed.
        link = RedisLink(
            configuration: configuration, eventLoop: eventLoop, libraries: [], asksTime: false,
            logger: Logger(label: "redis") { _ in SwiftLogNoOpLogHandler() })
        self.completion = completion
        timer = eventLoop.assumeIsolated().scheduleTask(in: limit) { self.finish(.failure(.timeout)) }
    }

    /// Connects; the connection keeps itself alive until it is done.
    func start() { link.start(owner: self) }

    /// Ends early.
    func close() { finish(.failure(.shutDown)) }

    private func finish(_ result: Result<[RedisValue], RedisError>) {
        guard let completion else { return }
        self.completion = nil
        timer?.cancel()
        link.close()
        completion(result)
    }
}

extension BriefConnection: RedisLinkOwner {
    func makeBuilder() -> ReplyBuilder { ReplyBuilder() }

    func linkUp() {
        var buffer = ByteBuffer()
        for command in commands { command.encode(into: &buffer) }
        link.write(buffer)
    }

    func linkReceived(_ reply: RedisValue) {
        if case .error(let error) = reply { return finish(.failure(error)) }
        replies.append(reply)
        if replies.count == commands.count { finish(.success(replies)) }
    }

    func linkFailed(_ error: RedisError) { finish(.failure(error)) }

    func linkDown(_ error: RedisError) { finish(.failure(error)) }

    func linkHeard(time: RedisValue, askedAt: ContinuousClock.Instant) {}

    func linkReadEnded() {}
}
