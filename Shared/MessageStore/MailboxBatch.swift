internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import NIOCore
package import RedisClient
package import SignalingProtocol

/// Collects messages to users, and users' acknowledgements, during one tick of the event loop and sends each kind in
/// one call of a Redis Function. That costs Redis about half as much as one call each; batching adds no delay. In a
/// cluster a call is for the users of one slot.
///
/// Use it on the connection's event loop only. The connection must load ``RedisFunctionLibrary/messages``.
package final class MailboxBatch {
    /// The largest number of messages or mailboxes in one call: Redis does nothing else during the call.
    package static let bound = 64
    /// The total size of messages in bytes at which a call is sent.
    package static let byteBound = 65_536

    /// How long a message with a command id may be sent again if the connection to Redis breaks before the
    /// reply: as long as its sender waits.
    package static let patience = Duration.seconds(8)
    private static let patienceAmount = TimeAmount(patience)

    /// When a command that is sent now may no longer be sent again.
    static var repeatedUntil: NIODeadline { .now() + patienceAmount }

    /// A call that is being assembled.
    private struct Call {
        /// Whether all messages of the call have command ids, so that the call may be sent again.
        var isRepeatable = true
        var lineBytes = 0
        /// The slot of the users; 0 on a single Redis.
        var slot: UInt16 = 0
        var keys = RedisArguments()
        var arguments = RedisArguments()
        var completions: [(Result<Int64, SignalingError>) -> Void] = []
        /// What webhooks are told of the messages: of all, or, when this is empty, of none.
        var told: [Told] = []
    }

    /// A message that is told as an event.
    private struct Told {
        let receiver: UserKey
        let message: ToldMessage
    }

    private let connection: RedisClient
    private let gateway: GatewayID
    private let mirror: MessageMirror
    private var messages = Call()
    private var clears = Call()
    private var isFlushScheduled = false

    /// Sends over `connection`, for sessions that `gateway` holds. Sessions taken over by another gateway are
    /// refused, see ``SessionFence``.
    package init(connection: RedisClient, gateway: GatewayID) {
        self.connection = connection
        self.gateway = gateway
        mirror = MessageMirror(connection: connection)
    }

    /// Adds a message to a user's mailbox and publishes it to the gateway that holds the user's session.
    ///
    /// Completes once with the entry's version; 0 for a repetition. Fails with ``SignalingCode/messageOther``
    /// (`mailbox_full`) at the mailbox's bounds; with ``SignalingCode/failed`` (`memory_full`) when Redis is at
    /// `maxmemory`, (`unavailable`) when the message could not be sent to Redis and will not be, or (`timeout`) when
    /// Redis does not answer in time; and as described at ``SessionFence``. After a `timeout` Redis refuses a message
    /// without a command id. One with an id may still be stored: its sender repeats it, and a refusal would put it
    /// behind those that were sent after it. A message of which webhooks are told completes when they are certain to
    /// be; with `timeout` when that is not known in time.
    package func send(
        _ message: InstantMessage, _ completion: @escaping (Result<Int64, SignalingError>) -> Void
    ) {
        scheduleFlush()
        let isRepeatable = message.command != nil
        // Messages with a command id and messages without one go in separate calls, in the
        // order in which they were sent; and so do those that are told as events.
        let tag = KeySpace.tag(message.to)
        let slot = slot(of: tag)
        let isOther =
            messages.isRepeatable != isRepeatable || messages.slot != slot
            || messages.told.isEmpty != (message.told == nil)
        if isOther, !messages.completions.isEmpty { sendMessages() }
        messages.isRepeatable = isRepeatable
        messages.slot = slot
        messages.keys.append(tag)
        messages.arguments.append(message.sender.tag)
        messages.arguments.append(message.command?.rawValue ?? "")
        messages.arguments.append(message.session.rawValue)
        messages.arguments.append(message.line)
        messages.arguments.append(message.seconds * 1000)
        messages.arguments.append(message.bounds.entries)
        messages.arguments.append(message.bounds.bytes)
        messages.completions.append(completion)
        if let told = message.told { messages.told.append(Told(receiver: message.to, message: told)) }
        messages.lineBytes += message.line.utf8.count
        if messages.completions.count == Self.bound || messages.lineBytes >= Self.byteBound { sendMessages() }
    }

    /// Deletes a user's entries up to a version, on behalf of the user's session. A version below an
    /// earlier one changes nothing; one above the latest version counts as the latest. Completes once,
    /// with the highest version deleted.
    package func clear(
        _ user: UserKey, in session: SessionID, through version: Int64,
        _ completion: @escaping (Result<Int64, SignalingError>) -> Void
    ) {
        scheduleFlush()
        let tag = KeySpace.tag(user)
        let slot = slot(of: tag)
        if clears.slot != slot, !clears.completions.isEmpty { sendClears() }
        clears.slot = slot
        clears.keys.append(tag)
        clears.arguments.append(session.rawValue)
        clears.arguments.append(Int(version))
        clears.completions.append(completion)
        if clears.completions.count == Self.bound { sendClears() }
    }

    /// The slot of a user's keys, which a call must have in common; 0 on a single Redis, where it does not matter.
    private func slot(of tag: String) -> UInt16 {
        switch connection.bus.flavour {
        case .single: 0
        case .cluster: KeySlot.of(tag)
        }
    }

    private func scheduleFlush() {
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        connection.beforeWriting { [self] in
            isFlushScheduled = false
            flush()
        }
    }

    /// Sends everything collected so far, so that commands sent later on the connection are answered after it.
    package func flush() {
        sendMessages()
        sendClears()
    }

    private func sendMessages() {
        let call = messages
        messages = Call()
        send(call.told.isEmpty ? "messages_to_users" : "messages_to_users_told", call, isMessages: true)
    }

    private func sendClears() {
        let call = clears
        clears = Call()
        send("mailboxes_clear", call, isMessages: false)
    }

    /// - Parameter isMessages: whether the call stores messages, and so must survive and may have a deadline.
    private func send(_ function: String, _ call: Call, isMessages: Bool) {
        let completions = call.completions
        guard !completions.isEmpty else { return }
        var command = RedisCommand.function(
            function, keys: completions.count,
            bytes: call.keys.bytes + call.arguments.bytes + gateway.rawValue.utf8.count + 32)
        let until = call.isRepeatable ? Self.repeatedUntil : nil
        command.append(contentsOf: call.keys)
        command.append(gateway.rawValue)
        if isMessages { command.append(connection.deadline(isRepeatable: call.isRepeatable, inSlot: call.slot)) }
        command.append(contentsOf: call.arguments)
        // Not durable: entries that a lost call brings back are acknowledged again by the client.
        command.isDurable = isMessages
        guard call.told.isEmpty else { return sendTold(command, call, until) }
        connection.send(command, repeatedUntil: until) { reply in
            for (completion, result) in zip(completions, Self.results(reply, count: completions.count, Self.result)) {
                completion(result)
            }
        }
    }

    /// Sends messages, and puts those that were accepted where webhooks are told of them before it completes.
    private func sendTold(_ command: RedisCommand, _ call: Call, _ until: NIODeadline?) {
        let end = Self.repeatedUntil
        connection.send(command, repeatedUntil: until) { [mirror] reply in
            let results = Self.results(reply, count: call.completions.count, Self.sent)
            let rows = zip(call.told, results).compactMap { told, result -> MessageMirrorRow? in
                guard case .success(let sent) = result, sent.microseconds > 0 else { return nil }
                return told.message.row(to: told.receiver, sent)
            }
            mirror.append(rows, slot: call.slot, until: end) { error in
                for (completion, result) in zip(call.completions, results) {
                    if let error, case .success = result {
                        completion(.failure(error))
                    } else {
                        completion(result.map(\.version))
                    }
                }
            }
        }
    }

    private static func results<Sent>(
        _ reply: Result<RedisValue, RedisError>, count: Int, _ result: (RedisValue) -> Result<Sent, SignalingError>
    ) -> [Result<Sent, SignalingError>] {
        switch reply {
        case .failure(let error): Array(repeating: .failure(error.ofMessage), count: count)
        case .success(.array(let values)) where values.count == count: values.map(result)
        case .success: Array(repeating: .failure(.unreadableAnswer), count: count)
        }
    }

    private static func sent(_ value: RedisValue) -> Result<InstantMessageSent, SignalingError> {
        if case .error(let error) = value { return .failure(error.signaling) }
        guard let parts = value.array, parts.count == 3, let version = parts[0].int, let microseconds = parts[2].int
        else { return .failure(.unreadableAnswer) }
        return .success(
            InstantMessageSent(version: version, isOnline: parts[1].int == 1, microseconds: microseconds))
    }

    private static func result(_ value: RedisValue) -> Result<Int64, SignalingError> {
        switch value {
        case .integer(let version): .success(version)
        case .error(let error): .failure(error.signaling)
        default: .failure(.unreadableAnswer)
        }
    }
}

extension RedisClient {
    /// When the sender of a message is told that it has failed, by Redis' clock in milliseconds; 0 while the clock is
    /// not known, and for a message that is repeated.
    func deadline(isRepeatable: Bool, inSlot slot: UInt16) -> RedisArgument {
        guard !isRepeatable, let end = redisTime(at: commandEnd, ofSlot: slot) else { return 0 }
        return .int64(end.milliseconds)
    }
}
