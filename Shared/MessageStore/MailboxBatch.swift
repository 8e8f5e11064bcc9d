package import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import NIOCore
package import RedisClient
package import SignalingProtocol

/// What messages mean for sessions of the gateway that has sent them, of which Redis publishes nothing to it.
package struct OwnMail {
    /// New entries of the sessions' mailboxes.
    package var deliveries: [MailDelivery] = []
    /// The last versions of mailboxes of sessions that may not have been told of an entry: a message to them was a
    /// repetition.
    package var latest: [(session: SessionID, version: Int64)] = []
    /// Users whose mailboxes may have a new entry of which nobody else tells, because the outcome of a call is not
    /// known. They need not have sessions here.
    package var doubtful: [UserKey] = []

    var isEmpty: Bool { deliveries.isEmpty && latest.isEmpty && doubtful.isEmpty }
}

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

    /// What all messages of a call have in common, so that it is said once.
    private struct Terms: Equatable {
        /// Whether the messages have command ids, so that the call may be sent again.
        var isRepeatable = true
        /// The slot of the users; 0 on a single Redis.
        var slot: UInt16 = 0
        /// How long the messages may wait.
        var seconds = 0
        /// The bounds of the receivers' mailboxes.
        var bounds = MailboxBounds()
        /// Whether the messages are told as events.
        var isTold = false
    }

    /// A call that is being assembled.
    private struct Call {
        var terms = Terms()
        var lineBytes = 0
        var keys = RedisArguments()
        var arguments = RedisArguments()
        var completions: [(Result<Int64, SignalingError>) -> Void] = []
        /// The messages, for sessions at the gateway itself.
        var written: [Written] = []
        /// What is told of the messages, if it is.
        var told: [Told] = []
    }

    /// A message as it will be in its receiver's mailbox.
    private struct Written {
        let receiver: UserKey
        let line: String
    }

    /// A message that is told as an event.
    private struct Told {
        let receiver: UserKey
        let message: ToldMessage
    }

    private let connection: RedisClient
    private let gateway: GatewayID
    private let mirror: MessageMirror
    private let completing: (_ completions: () -> Void) -> Void
    private var messages = Call()
    private var clears = Call()
    private var isFlushScheduled = false

    /// Takes what messages mean for sessions of the gateway itself. They are found in the replies of Redis, which then
    /// publishes nothing to this gateway. Default nil: Redis publishes all.
    package var onOwn: ((OwnMail) -> Void)?

    /// Sends over `connection`, for sessions that `gateway` holds. Sessions taken over by another gateway are
    /// refused, see ``SessionFence``.
    /// - Parameter completing: calls the completions of one call of Redis, which are many; by default that is all.
    package init(
        connection: RedisClient, gateway: GatewayID,
        completing: @escaping (_ completions: () -> Void) -> Void = { $0() }
    ) {
        self.connection = connection
        self.gateway = gateway
        self.completing = completing
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
        // Messages on other terms go in a call of their own, in the order in which they were sent.
        let tag = KeySpace.tag(message.to)
        let terms = Terms(
            isRepeatable: message.command != nil, slot: slot(of: tag), seconds: message.seconds, bounds: message.bounds,
            isTold: message.told != nil)
        if messages.terms != terms {
            if !messages.completions.isEmpty { sendMessages() }
            messages.terms = terms
        }
        messages.keys.append(tag)
        messages.arguments.append(message.sender.tag)
        messages.arguments.append(message.session.rawValue)
        messages.arguments.append(message.line)
        if let command = message.command { messages.arguments.append(command.rawValue) }
        messages.completions.append(completion)
        if onOwn != nil { messages.written.append(Written(receiver: message.to, line: message.line)) }
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
        if clears.terms.slot != slot, !clears.completions.isEmpty { sendClears() }
        clears.terms.slot = slot
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
        guard !call.completions.isEmpty else { return }
        let terms = call.terms
        var command = self.command(terms.isTold ? "messages_to_users_told" : "messages_to_users", call)
        command.append(connection.deadline(isRepeatable: terms.isRepeatable, inSlot: terms.slot))
        command.append(terms.isRepeatable ? 1 : 0)
        command.append(onOwn == nil ? 0 : 1)
        command.append(terms.seconds * 1000)
        command.append(terms.bounds.entries)
        command.append(terms.bounds.bytes)
        command.append(contentsOf: call.arguments)
        command.isDurable = true
        let until = terms.isRepeatable ? Self.repeatedUntil : nil
        if terms.isTold { sendTold(command, call, until) } else { sendUntold(command, call, until) }
    }

    private func sendClears() {
        let call = clears
        clears = Call()
        guard !call.completions.isEmpty else { return }
        var command = self.command("mailboxes_clear", call)
        command.append(contentsOf: call.arguments)
        // Not durable: entries that a lost call brings back are acknowledged again by the client.
        command.isDurable = false
        let completions = call.completions
        connection.send(command, repeatedUntil: Self.repeatedUntil) { [completing] reply in
            let results = Self.results(reply, count: completions.count, Self.cleared)
            completing { for (completion, result) in zip(completions, results) { completion(result) } }
        }
    }

    /// A command up to the gateway's id, which all functions begin with.
    private func command(_ function: String, _ call: Call) -> RedisCommand {
        var command = RedisCommand.function(
            function, keys: call.completions.count,
            bytes: call.keys.bytes + call.arguments.bytes + gateway.rawValue.utf8.count + 64)
        command.append(contentsOf: call.keys)
        command.append(gateway.rawValue)
        return command
    }

    private func sendUntold(_ command: RedisCommand, _ call: Call, _ until: NIODeadline?) {
        connection.send(command, repeatedUntil: until) { [self] reply in
            let results = Self.sent(reply, call)
            completing {
                for (completion, result) in zip(call.completions, results) { completion(result.map(\.version)) }
                tellOwn(call, reply, results)
            }
        }
    }

    /// Sends messages, and puts those that were accepted where webhooks are told of them before it completes.
    private func sendTold(_ command: RedisCommand, _ call: Call, _ until: NIODeadline?) {
        let end = Self.repeatedUntil
        connection.send(command, repeatedUntil: until) { [self] reply in
            let results = Self.sent(reply, call)
            // Receivers do not wait for those who are told.
            completing { tellOwn(call, reply, results) }
            let rows = zip(call.told, results).compactMap { told, result -> MessageMirrorRow? in
                guard case .success(let sent) = result, sent.microseconds > 0 else { return nil }
                return told.message.row(to: told.receiver, sent)
            }
            mirror.append(rows, slot: call.terms.slot, until: end) { [completing] error in
                completing {
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
    }

    /// Passes on what a call means for sessions of the gateway itself.
    private func tellOwn(
        _ call: Call, _ reply: Result<RedisValue, RedisError>, _ results: [Result<InstantMessageSent, SignalingError>]
    ) {
        guard let onOwn else { return }
        var mail = OwnMail()
        // The clock, from which the messages' time to live counts.
        if case .success(let value) = reply, let now = value.array?.last?.int {
            let end = RedisTime(milliseconds: now + Int64(call.terms.seconds) * 1000)
            for (written, result) in zip(call.written, results) {
                guard case .success(let sent) = result else { continue }
                if let place = sent.own {
                    let entry = MailboxEntry(version: sent.version, expiresAt: end, line: written.line)
                    mail.deliveries.append(MailDelivery(session: place.session, previous: place.previous, entry: entry))
                }
                if let latest = sent.latest { mail.latest.append(latest) }
            }
        } else if Self.mayHaveTakenEffect(reply) {
            mail.doubtful = call.written.map(\.receiver)
        }
        if !mail.isEmpty { onOwn(mail) }
    }

    /// Whether a reply that cannot be read, or an error, leaves open what became of a call.
    private static func mayHaveTakenEffect(_ reply: Result<RedisValue, RedisError>) -> Bool {
        switch reply {
        case .success: true
        case .failure(let error): error.mayHaveTakenEffect
        }
    }

    /// What became of each message of a call.
    private static func sent(
        _ reply: Result<RedisValue, RedisError>, _ call: Call
    ) -> [Result<InstantMessageSent, SignalingError>] {
        let isTold = call.terms.isTold
        // After the messages comes the clock.
        return results(reply, count: call.completions.count + 1) { InstantMessageSent.read($0, isTold: isTold) }
            .dropLast()
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

    private static func cleared(_ value: RedisValue) -> Result<Int64, SignalingError> {
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
