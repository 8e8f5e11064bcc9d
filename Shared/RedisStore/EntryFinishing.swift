internal import Logging
internal import NIOCore

/// Finishes a consumer's entries: those of one turn of the event loop are acknowledged together, behind what their
/// handlers have sent. Nobody waits for it: an entry whose end is lost stays pending and is delivered again.
///
/// `@unchecked Sendable`: `ids` is used on the connection's event loop only.
final class EntryFinishing: @unchecked Sendable {
    private let group: ConsumerGroup
    private let logger: Logger
    private var ids: [String] = []

    init(group: ConsumerGroup, logger: Logger) {
        self.group = group
        self.logger = logger
    }

    private var connection: RedisConnection { group.connection }

    /// Sends `last`, then finishes an entry.
    func finish(_ id: String, after last: [RedisCommand]) {
        if connection.eventLoop.inEventLoop {
            add(id, last)
        } else {
            connection.eventLoop.execute { self.add(id, last) }
        }
    }

    /// Waits until all that was to be finished is, as far as Redis answers.
    func drain() async {
        await withCheckedContinuation { continuation in
            connection.eventLoop.execute {
                self.flush()
                continuation.resume()
            }
        }
        guard connection.isConnected else { return }
        // Answers come in order: this one is the last.
        _ = try? await connection.execute(RedisCommand("PING"))
    }

    private func add(_ id: String, _ last: [RedisCommand]) {
        for command in last { send(command) }
        ids.append(id)
        // Runs after all that this turn brings.
        if ids.count == 1 { connection.eventLoop.execute { self.flush() } }
    }

    private func flush() {
        guard !ids.isEmpty else { return }
        let finished = ids
        ids = []
        for command in group.finish(finished) { send(command) }
    }

    private func send(_ command: RedisCommand) {
        connection.send(command) { [logger] result in
            guard case .failure(let error) = result else { return }
            // What a broken connection took away comes again with its entry.
            logger.log(
                level: error.code == "CLOSED" ? .debug : .warning,
                "what ends a command was not done", metadata: ["command": "\(command.name)", "error": "\(error)"])
        }
    }
}
