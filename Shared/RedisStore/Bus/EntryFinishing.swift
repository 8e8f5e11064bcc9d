internal import Logging
internal import NIOCore

/// Finishes a consumer's entries of one stream: those of one turn of the event loop are acknowledged together, behind what
/// their handlers have sent. Nobody waits for it: an entry whose end is lost stays pending and is delivered again.
///
/// All of a turn is given to the connection at once, just before it writes: the break of a connection takes all of it away
/// or what follows any point, so never what an entry's handler has sent without the entry's end.
///
/// `@unchecked Sendable`: `ended` is used on the connection's event loop only.
final class EntryFinishing: @unchecked Sendable {
    private let group: ConsumerGroup
    private let logger: Logger
    private var ended: [(id: String, last: [RedisCommand])] = []

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
        ended.append((id, last))
        if ended.count == 1 { connection.beforeWriting { self.flush() } }
    }

    private func flush() {
        guard !ended.isEmpty else { return }
        let entries = ended
        ended = []
        var finished: [String] = []
        for entry in entries where sendAll(entry.last) { finished.append(entry.id) }
        guard !finished.isEmpty else { return }
        _ = sendAll(group.finish(finished))
    }

    /// - Returns: whether all were taken; one that was refused at once (`FULL`) must come again with its entry.
    private func sendAll(_ commands: [RedisCommand]) -> Bool {
        var isTaken = true
        var isSending = true
        for command in commands {
            connection.send(command) { [logger] result in
                guard case .failure(let error) = result else { return }
                if isSending { isTaken = false }
                // What a broken connection took away comes again with its entry.
                logger.log(
                    level: error.code == .closed ? .debug : .warning,
                    "what ends a command was not done", metadata: ["command": "\(command.name)", "error": "\(error)"])
            }
        }
        isSending = false
        return isTaken
    }
}
