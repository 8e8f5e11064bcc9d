internal import ClusterBus
internal import ClusterState
internal import NIOCore
internal import Pacing
package import RedisClient
package import SignalingProtocol

/// The hot path: messages to users and channels, mailboxes, channel logs. Each operation is one call of a Redis
/// Function (library `heliograph_messages`), so its checks, rate limit, numbering, storing and publishing are atomic.
///
/// The forms with a completion must be called on the connection's event loop and complete there, once; the async forms
/// may be called anywhere. The connection must load ``RedisFunctionLibrary/messages``. Every operation fails with
/// ``SignalingCode/failed`` (`unavailable`) when Redis does not answer; the outcome of a send is then unknown. The
/// gateways' most frequent operations also exist in a form that batches them, ``MailboxBatch``.
package struct MessageStore: Sendable {
    let connection: RedisClient
    private let mirror: MessageMirror

    package init(connection: RedisClient) {
        // Declares everything that readers of events count.
        _ = EventMetrics.shared
        self.connection = connection
        mirror = MessageMirror(connection: connection)
    }

    // MARK: - Sending

    /// Adds an entry to a user's mailbox and publishes it to the gateway that holds the user's session.
    /// - Throws: `SignalingError`; ``SignalingCode/messageOther`` (`mailbox_full`) at the mailbox's bounds.
    package func sendToUser(_ message: UserMessage) async throws(SignalingError) -> MessageQueued {
        try await perform(Self.command(message), Self.queued)
    }

    /// Publishes a message to a channel's members; on the loop only. Fails with ``SignalingCode/messageOther``
    /// (`not_member`, or `rate_limited` over the channel's limit), and as described at ``SessionFence``. A message of
    /// which webhooks are told completes when they are certain to be; with `timeout` when that is not known in time.
    package func sendToChannel(
        _ message: ChannelMessage, _ completion: @escaping (Result<ChannelMessageSent, SignalingError>) -> Void
    ) {
        // A message with a command id is sent again if the connection breaks before the reply.
        let until = message.command.map { _ in MailboxBatch.repeatedUntil }
        let slot = KeySpace.slot(of: .channel(message.channel))
        var command = Self.command(message)
        command.append(connection.deadline(isRepeatable: until != nil, inSlot: slot))
        let end = message.told.map { _ in MailboxBatch.repeatedUntil }
        connection.send(command, repeatedUntil: until) { [mirror] reply in
            let result = reply.mapError(\.ofMessage).flatMap { value in
                Self.sent(value).map { .success($0) } ?? .failure(.unreadableAnswer)
            }
            guard let end, case .success(let sent) = result, let row = message.row(sent) else {
                return completion(result)
            }
            mirror.append([row], slot: slot, until: end) { error in
                if let error { completion(.failure(error)) } else { completion(result) }
            }
        }
    }

    /// Publishes a message to a channel's members.
    /// - Throws: `SignalingError`; ``SignalingCode/messageOther``: `not_member`, or
    ///   `rate_limited` over the channel's limit.
    package func sendToChannel(_ message: ChannelMessage) async throws(SignalingError) -> ChannelMessageSent {
        try await perform(Self.command(message), Self.sent)
    }

    // MARK: - Commands and answers

    private static func command(_ message: UserMessage) -> RedisCommand {
        let tag = KeySpace.tag(message.to)
        var command = RedisCommand.function(
            "message_to_user", keys: 1, bytes: tag.utf8.count + message.line.utf8.count + 256)
        command.isDurable = true
        command.append(tag)
        command.append(message.command?.rawValue ?? "")
        command.append(message.line)
        command.append(Int(message.timeToLive.wholeMilliseconds))
        command.append(message.bounds.entries(for: message.condition))
        command.append(message.bounds.bytes)
        switch message.condition {
        case .always:
            append(to: &command, type: "", call: "", knownOnly: 0, session: "")
            command.append("")
        case .invitation(let call):
            append(to: &command, type: CallVerb.invite.rawValue, call: call, knownOnly: 0, session: "")
            command.append("")
        case .callEvent(let type, let call, let session, let invitedAt):
            append(to: &command, type: type, call: call, knownOnly: 1, session: session?.rawValue ?? "")
            command.append(invitedAt.map { .int64($0) } ?? "")
        }
        return command
    }

    private static func append(
        to command: inout RedisCommand, type: String, call: String, knownOnly: Int, session: String
    ) {
        command.append(type)
        command.append(call)
        command.append(knownOnly)
        command.append(session)
    }

    /// The Redis command that publishes a message to a channel's members, for the caller to send in a pipeline.
    package static func command(_ message: ChannelMessage) -> RedisCommand {
        let tag = KeySpace.tag(message.channel)
        // Services and apps' servers have no session to be checked.
        let readsSender = message.force && message.fence?.session.isServer == false
        var command = RedisCommand.function(
            message.fence == nil ? "announcement_to_channel" : "message_to_channel", keys: 1,
            bytes: 2 * tag.utf8.count + message.body.utf8.count + 512)
        command.append(tag)
        command.append(message.command?.rawValue ?? "")
        command.append(message.account.rawValue)
        command.append(Int(message.uid))
        command.append(message.fence?.session.rawValue ?? "")
        command.append(message.fence?.gateway.rawValue ?? "")
        command.append(message.force ? 1 : 0)
        command.append(message.limitPerSecond)
        command.append(message.body)
        command.append(
            readsSender ? KeySpace.tag(UserKey(app: message.channel.app, account: message.account)) : "")
        return command
    }

    private static func queued(_ reply: RedisValue) -> MessageQueued? {
        guard let parts = reply.array, parts.count == 2, let version = parts[0].int else { return nil }
        return MessageQueued(version: version, online: parts[1].int == 1)
    }

    private static func sent(_ reply: RedisValue) -> ChannelMessageSent? {
        guard let parts = reply.array, parts.count == 2, let sequence = parts[0].int, let id = parts[1].int else {
            return nil
        }
        return ChannelMessageSent(sequence: sequence, id: id)
    }

    // MARK: - Calling

    func perform<Answer>(
        _ command: RedisCommand, repeatedUntil until: NIODeadline? = nil,
        _ decode: @escaping (RedisValue) -> Answer?, _ completion: @escaping (Result<Answer, SignalingError>) -> Void
    ) {
        connection.send(command, repeatedUntil: until) { completion(Self.answer($0, decode)) }
    }

    func perform<Answer>(
        _ command: RedisCommand, _ decode: (RedisValue) -> Answer?
    ) async throws(SignalingError) -> Answer {
        guard let answer = decode(try await connection.answer(to: command)) else { throw .unreadableAnswer }
        return answer
    }

    private static func answer<Answer>(
        _ reply: Result<RedisValue, RedisError>, _ decode: (RedisValue) -> Answer?
    ) -> Result<Answer, SignalingError> {
        switch reply {
        case .failure(let error): .failure(error.signaling)
        case .success(let value): decode(value).map { .success($0) } ?? .failure(.unreadableAnswer)
        }
    }
}
