internal import Logging
internal import NIOCore

/// Acknowledges handled entries of one stream, in batches: entries of one turn of the event loop share one XACK, which
/// follows the commands that their handlers left to be sent. Nobody waits for it: an entry whose acknowledgement is lost is
/// delivered again.
///
/// A turn's commands and acknowledgements are handed to the connection together, just before it writes. So when the connection
/// breaks, an entry is never acknowledged without its commands having been sent.
///
/// The batch belongs to the connection's event loop, which every use of it checks.
final class EntryAcknowledger: Sendable {
    private let group: ConsumerGroup
    private let logger: Logger
    /// Entries whose handlers are done, each with what is to be sent before its end.
    private let ended: NIOLoopBoundBox<[(id: String, last: [RedisCommand])]>

    init(group: ConsumerGroup, logger: Logger) {
        self.group = group
        self.logger = logger
        ended = .makeBoxSendingValue([], eventLoop: group.connection.eventLoop)
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
        ended.value.append((id, last))
        if ended.value.count == 1 { connection.beforeWriting { self.flush() } }
    }

    private func flush() {
        guard !ended.value.isEmpty else { return }
        let entries = ended.value
        ended.value = []
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
                    "could not acknowledge command", metadata: ["command": "\(command.name)", "error": "\(error)"])
            }
        }
        isSending = false
        return isTaken
    }
}
