internal import BusProtocol
package import ClusterBus
internal import ClusterState
internal import GatewayAPILogic
package import MessageStore
package import NIOCore
package import RedisClient
internal import ServiceKit
package import SignalingProtocol
internal import SignalingWire
internal import Synchronization

/// One event loop of the gateway as the server API uses it: the commands that clients' connections send, over the same
/// connections to Redis, and in the same batches as their messages.
package struct APIShard: Sendable {
    /// The shard's id, by which messages are told from those of other gateways.
    private let gateway: GatewayID
    private let sender: CommandSender
    let messages: MessageStore
    private let mailboxes: NIOLoopBound<MailboxBatch>
    let redis: RedisClient
    /// How long a message to a user may wait, whatever the request says.
    private let longestMessageSeconds: Int
    /// Counts a message that was sent; called on the loop.
    private let onSent: @Sendable (AppID) -> Void
    /// Which request the shard's commands are sent for.
    fileprivate var cause = CommandCause()
    /// The same, for those who are told of its messages as events.
    private var request: EventRequest? { EventRequest(cause) }

    /// - Parameters:
    ///   - messages: sends over the same connections as `mailboxes`, those of the shard.
    ///   - mailboxes: those of the shard's loop.
    ///   - longestMessageSeconds: how long a message to a user may wait; requests that say more get this.
    ///   - onSent: called on the loop for each message that was sent, with its app.
    package init(
        gateway: GatewayID, sender: CommandSender, messages: MessageStore, mailboxes: NIOLoopBound<MailboxBatch>,
        redis: RedisClient, longestMessageSeconds: Int, onSent: @escaping @Sendable (AppID) -> Void
    ) {
        self.gateway = gateway
        self.sender = sender
        self.messages = messages
        self.mailboxes = mailboxes
        self.redis = redis
        self.longestMessageSeconds = longestMessageSeconds
        self.onSent = onSent
    }

    /// Sends a command to a service, and waits for the answer for 8 s.
    /// - Parameter id: the command's id, by which a repetition is recognised; nil for a new one.
    /// - Throws: `SignalingError`: the service's, or that there was no answer.
    func ask<Command: ServiceCommand>(
        _ command: Command, as id: CommandID? = nil
    ) async throws(SignalingError) -> Command.Reply {
        let result: Result<Command.Reply, SignalingError> = await withCheckedContinuation { asked in
            redis.eventLoop.execute { sender.send(command, as: id, for: cause) { asked.resume(returning: $0) } }
        }
        return try result.get()
    }

    /// Reads events after a position: those of a channel, or of a log that only the server API reads.
    func readLog(
        _ keys: ChannelKeys, after position: ChannelPosition
    ) async throws(SignalingError) -> ChannelLogPage {
        let result: Result<ChannelLogPage, SignalingError> = await withCheckedContinuation { asked in
            redis.eventLoop.execute { messages.readLog(keys, after: position) { asked.resume(returning: $0) } }
        }
        return try result.get()
    }

    /// What an app's settings say about its messages.
    struct MessageTerms: Sendable {
        let limits: AppLimits
        /// Who is told of them; nil for nobody.
        let events: MessageEvents?
    }

    /// Sends messages in their order.
    /// - Parameters:
    ///   - terms: those of the messages' app.
    ///   - command: the ids by which repetitions of the messages are recognised; nil when they are not repeated.
    /// - Returns: the outcome of each.
    func send(
        _ outgoing: [OutgoingMessage], _ terms: MessageTerms, command: @escaping @Sendable (Int) -> CommandID?
    ) async -> [MessageOutcome] {
        await withCheckedContinuation { sent in
            redis.eventLoop.execute {
                let outcomes = Outcomes(count: outgoing.count, sent)
                for (index, message) in outgoing.enumerated() {
                    send(message, terms, command(index)) { outcomes.set(index, $0) }
                }
            }
        }
    }

    /// Called on the loop.
    private func send(
        _ message: OutgoingMessage, _ terms: MessageTerms, _ command: CommandID?,
        _ completion: @escaping (MessageOutcome) -> Void
    ) {
        switch message.receiver {
        case .user(let account, let asked):
            let seconds = min(asked, longestMessageSeconds)
            var instant = InstantMessage(
                to: UserKey(app: message.app, account: account),
                from: UserKeys(UserKey(app: message.app, account: message.sender)), in: .server,
                line: MessageLine.instant(
                    from: message.sender, to: account, ttl: seconds, time: WallClock.seconds, content: message.text),
                seconds: seconds)
            instant.command = command
            instant.bounds = MailboxBounds(terms.limits)
            instant.told = terms.events.map { ToldMessage(message.text, from: message.sender, as: $0, for: request) }
            mailboxes.value.send(instant) { result in
                // A repetition has no version.
                if case .success(1...) = result { onSent(message.app) }
                completion(result.map { .user(version: $0) })
            }
        case .channel(let name):
            var published = ChannelMessage(
                channel: ChannelKey(app: message.app, name: name), account: message.sender, uid: 0, body: message.text)
            published.fence = SessionFence(session: .server, gateway: gateway)
            published.force = true
            published.limitPerSecond = terms.limits.channelMessagesPerSecond
            published.told = terms.events
            published.request = request
            published.command = command
            // Messages take effect in their order, those to users and those to channels.
            mailboxes.value.flush()
            messages.sendToChannel(published) { result in
                if case .success(let sent) = result, sent.id > 0 { onSent(message.app) }
                completion(result.map { .channel(id: $0.id) })
            }
        }
    }

    /// Collects the outcomes of a call's messages; used on the loop only.
    private final class Outcomes {
        private var outcomes: [MessageOutcome?]
        private var missing: Int
        private let done: CheckedContinuation<[MessageOutcome], Never>

        init(count: Int, _ done: CheckedContinuation<[MessageOutcome], Never>) {
            outcomes = Array(repeating: nil, count: count)
            missing = count
            self.done = done
        }

        func set(_ index: Int, _ outcome: MessageOutcome) {
            outcomes[index] = outcome
            missing -= 1
            if missing == 0 { done.resume(returning: outcomes.compactMap { $0 }) }
        }
    }
}

/// What became of a message.
typealias MessageOutcome = Result<MessageAccepted, SignalingError>

/// Where a message is now.
enum MessageAccepted: Equatable, Sendable {
    /// In the receiver's mailbox, under this version; 0 for a repetition.
    case user(version: Int64)
    /// Published under this id; 0 when the channel has no members.
    case channel(id: Int64)
}

/// The gateway's event loops, used in turn.
struct APIShards: Sendable {
    private final class Turn: Sendable {
        private let turn = Atomic<Int>(0)

        func next() -> UInt { turn.wrappingAdd(1, ordering: .relaxed).newValue.magnitude }
    }

    private let shards: [APIShard]
    private let turn = Turn()
    private var cause = CommandCause()

    /// - Parameter shards: at least one.
    init(_ shards: [APIShard]) { self.shards = shards }

    func next() -> APIShard {
        var shard = shards[Int(turn.next() % UInt(shards.count))]
        shard.cause = cause
        return shard
    }

    /// The same event loops, whose commands are sent for a request.
    func acting(for cause: CommandCause) -> APIShards {
        var shards = self
        shards.cause = cause
        return shards
    }
}
