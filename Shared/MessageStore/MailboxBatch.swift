internal import ClusterState
package import NIOCore
package import RedisStore
package import SignalingProtocol

/// Collects messages to users, and users' acknowledgements, within one turn of the event loop and sends each kind in one call
/// of a Redis Function. That costs Redis about half of one call each; batching adds no delay.
///
/// All of it happens on the connection's event loop. The connection must load ``MessageStore/library``.
package final class MailboxBatch {
    /// Messages, or mailboxes, in one call at most: Redis does nothing else during the call.
    package static let bound = 64
    /// Bytes of lines after which a call takes no further message.
    package static let byteBound = 65_536

    /// How long a message with a command id is resent if the connection to Redis breaks before the answer: as long as its
    /// sender waits.
    package static let patience = TimeAmount.seconds(8)

    /// A call that is being put together.
    private struct Call {
        /// Whether all of its messages have command ids, so that the call may be sent twice.
        var isRepeatable = true
        var lineBytes = 0
        var keys = RedisArguments()
        var arguments = RedisArguments()
        var completions: [(Result<Int64, SignalingError>) -> Void] = []
    }

    private let connection: RedisConnection
    private let gateway: GatewayID
    private var messages = Call()
    private var clears = Call()
    private var isAwaitingTurn = false

    /// Works over `connection`, for sessions that `gateway` holds: what others have taken over is refused, see ``SessionFence``.
    package init(connection: RedisConnection, gateway: GatewayID) {
        self.connection = connection
        self.gateway = gateway
    }

    /// Adds a message to a user's mailbox and publishes it to the gateway that holds the user's session.
    ///
    /// Completes once, with the entry's version, 0 for a message that was sent before. Fails with
    /// ``SignalingCode/messageOther`` (`mailbox_full`) at the mailbox's bounds; with ``SignalingCode/failed``, `memory_full` when
    /// Redis has no room for more, `unavailable` when it does not answer; and as ``SessionFence`` says.
    /// - Parameters:
    ///   - sender: who sends it, and in which session.
    ///   - line: the `msg-v2` line.
    ///   - milliseconds: how long it may wait.
    ///   - command: makes a repeated send take effect once within a minute, so that it is sent again (``patience``) when its
    ///     outcome is lost with a connection; nil for a message that is sent once.
    ///   - bounds: how much may wait for the user.
    package func send(
        to user: UserKey, from sender: UserKey, session: SessionID, line: String, timeToLive milliseconds: Int64,
        command: CommandID?, bounds: MailboxBounds = MailboxBounds(),
        _ completion: @escaping (Result<Int64, SignalingError>) -> Void
    ) {
        awaitTurn()
        // Messages with and without a command id go in separate calls, in their order.
        if messages.isRepeatable != (command != nil), !messages.completions.isEmpty { sendMessages() }
        messages.isRepeatable = command != nil
        messages.keys.append(KeySpace.tag(user))
        messages.keys.append(KeySpace.tag(sender))
        messages.arguments.append(command?.rawValue ?? "")
        messages.arguments.append(session.rawValue)
        messages.arguments.append(line)
        messages.arguments.append(Int(milliseconds))
        messages.arguments.append(bounds.entries)
        messages.arguments.append(bounds.bytes)
        messages.completions.append(completion)
        messages.lineBytes += line.utf8.count
        if messages.completions.count == Self.bound || messages.lineBytes >= Self.byteBound { sendMessages() }
    }

    /// Deletes a user's entries up to a version, in the name of the user's session. A version lower than one before changes
    /// nothing, one above the highest given counts as that. Completes once, with the highest version deleted.
    package func clear(
        _ user: UserKey, in session: SessionID, through version: Int64,
        _ completion: @escaping (Result<Int64, SignalingError>) -> Void
    ) {
        awaitTurn()
        clears.keys.append(KeySpace.tag(user))
        clears.arguments.append(session.rawValue)
        clears.arguments.append(Int(version))
        clears.completions.append(completion)
        if clears.completions.count == Self.bound { sendClears() }
    }

    private func awaitTurn() {
        guard !isAwaitingTurn else { return }
        isAwaitingTurn = true
        connection.beforeWriting { [self] in
            isAwaitingTurn = false
            flush()
        }
    }

    /// Sends what is collected now, so that commands sent later on the connection are answered after it.
    package func flush() {
        sendMessages()
        sendClears()
    }

    private func sendMessages() {
        let call = messages
        messages = Call()
        send("messages_to_users", call, keys: 2 * call.completions.count)
    }

    private func sendClears() {
        let call = clears
        clears = Call()
        send("mailboxes_clear", call, keys: call.completions.count)
    }

    private func send(_ function: String, _ call: Call, keys: Int) {
        let completions = call.completions
        guard !completions.isEmpty else { return }
        var command = RedisCommand.function(
            function, keys: keys, bytes: call.keys.bytes + call.arguments.bytes + gateway.rawValue.utf8.count + 16)
        command.append(contentsOf: call.keys)
        command.append(gateway.rawValue)
        command.append(contentsOf: call.arguments)
        connection.send(command, repeatedUntil: call.isRepeatable ? .now() + Self.patience : nil) { reply in
            for (completion, result) in zip(completions, Self.results(reply, count: completions.count)) {
                completion(result)
            }
        }
    }

    private static func results(
        _ reply: Result<RedisValue, RedisError>, count: Int
    ) -> [Result<Int64, SignalingError>] {
        switch reply {
        case .failure(let error): Array(repeating: .failure(error.signaling), count: count)
        case .success(.array(let values)) where values.count == count: values.map(result)
        case .success: Array(repeating: .failure(.unreadableAnswer), count: count)
        }
    }

    private static func result(_ value: RedisValue) -> Result<Int64, SignalingError> {
        switch value {
        case .integer(let version): .success(version)
        case .error(let error): .failure(error.signaling)
        default: .failure(.unreadableAnswer)
        }
    }
}
