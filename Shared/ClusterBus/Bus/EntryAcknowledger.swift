internal import ClusterState
internal import Logging
internal import NIOCore
internal import RedisClient

/// Acknowledges the handled entries of one stream in batches: the entries of one tick of the event loop share one XACK.
/// Nothing waits for it, because an entry whose acknowledgement is lost is delivered again.
///
/// The commands that the handlers left to be sent, and then the acknowledgements, are passed to the connection
/// together, just before it writes. So an entry is never acknowledged unless its commands have been sent, even when
/// the connection breaks. In a cluster, where a command goes to another server than the stream's, the entry is
/// acknowledged after the answer.
///
/// The batch belongs to the connection's event loop; every access checks that it runs there.
final class EntryAcknowledger: Sendable {
    private let group: ConsumerGroup
    private let logger: Logger
    /// Handled entries, each with the commands to send before its acknowledgement.
    private let ended: NIOLoopBoundBox<[(id: String, last: [RedisCommand])]>

    init(group: ConsumerGroup, logger: Logger) {
        self.group = group
        self.logger = logger
        ended = .makeBoxSendingValue([], eventLoop: group.connection.eventLoop)
    }

    private var connection: RedisClient { group.connection }

    /// Sends `last`, then acknowledges and deletes the entry.
    func finish(_ id: String, after last: [RedisCommand]) {
        if connection.eventLoop.inEventLoop {
            add(id, last)
        } else {
            connection.eventLoop.execute { self.add(id, last) }
        }
    }

    /// Waits until all entries passed to ``finish(_:after:)`` are acknowledged, unless the stream's server is away.
    func drain() async {
        let isReachable = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            connection.eventLoop.execute {
                self.flush()
                continuation.resume(returning: self.connection.isReachable(slot: self.group.partition.slot))
            }
        }
        guard isReachable else { return }
        // Replies arrive in order, so after this one all earlier commands are done.
        _ = try? await connection.execute(RedisCommand("PING").inSlot(group.partition.slot))
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
        for entry in entries {
            if !connection.keepsOrder(of: entry.last, before: group.partition.slot) {
                sendInTurn(entry.last, then: entry.id)
            } else if sendAll(entry.last) {
                finished.append(entry.id)
            }
        }
        guard !finished.isEmpty else { return }
        _ = sendAll(group.finish(finished))
    }

    /// Sends commands to several servers, and acknowledges their entry when all are answered.
    private func sendInTurn(_ commands: [RedisCommand], then id: String) {
        let end = group.finish([id])
        connection.send(commands, then: end) { [logger] results in
            for (command, result) in zip(commands + end, results) {
                guard case .failure(let error) = result else { continue }
                logger.log(
                    level: error.code == .closed ? .debug : .warning,
                    "could not acknowledge command", metadata: ["command": "\(command.name)", "error": "\(error)"])
            }
        }
    }

    /// - Returns: false when a command was refused at once (`FULL`); its entry is then left to be delivered again.
    private func sendAll(_ commands: [RedisCommand]) -> Bool {
        var isTaken = true
        var isSending = true
        for command in commands {
            connection.send(command) { [logger] result in
                guard case .failure(let error) = result else { return }
                if isSending { isTaken = false }
                // Commands lost with a broken connection are sent again when their entry is delivered again.
                logger.log(
                    level: error.code == .closed ? .debug : .warning,
                    "could not acknowledge command", metadata: ["command": "\(command.name)", "error": "\(error)"])
            }
        }
        isSending = false
        return isTaken
    }
}
