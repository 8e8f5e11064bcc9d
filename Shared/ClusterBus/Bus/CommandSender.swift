package import BusProtocol
internal import ClusterState
package import Logging
package import NIOCore
package import RedisClient
internal import ServiceMetrics
package import SignalingProtocol

/// Sends a gateway's commands to the services and matches the replies to them.
///
/// A command is pending until its reply or its deadline. The deadline is set when the command is made and travels
/// with it as Redis time, so a command that is delayed in this process, in a socket or on the stream has no effect
/// after it. After an outage of Redis, unanswered commands are sent again with the same id; services recognise the
/// id, so each takes effect once.
///
/// The pending commands belong to the connection's event loop; every access checks that it runs there.
package final class CommandSender: Sendable {
    private struct Pending {
        let operation: String
        let stream: String
        /// The slot of the stream.
        let slot: UInt16
        let fields: FieldWriter
        let cause: CommandCause
        let isVital: Bool
        /// Whether the stream is that of one process, which is gone when its stream is.
        let isForOne: Bool
        let deadline: NIODeadline
        /// The deadline as Redis time; nil before Redis has first told its time.
        var until: RedisTime?
        /// Whether the XADD has been sent and not been answered yet.
        var isSending = false
        /// Whether it is sent once more when that answer is there: its reply may be lost already.
        var isRepeatedWhenSent = false
        /// The term of the stream's master (``MasterTerm/number``) in which the command was sent again
        /// because its reply may have been lost.
        var repeatedIn: Int?
        let completion: (Result<[UInt8], SignalingError>) -> Void
    }

    private struct State {
        /// The number of commands sent so far; makes their ids unique.
        var counter: UInt64 = 0
        var pending: [CommandID: Pending] = [:]
        /// Ids of commands by deadline, in units of ``bucketWidth``.
        var buckets: [UInt64: [CommandID]] = [:]
        var isTimerArmed = false
    }

    /// The width of a bucket of deadlines: one timer for a bucket is cheaper than one for each command.
    private static var bucketWidth: TimeAmount { .milliseconds(100) }

    private let sender: AskerID
    private let connection: RedisClient
    private let logger: Logger
    private let maxPending: Int
    private let level: @Sendable () -> Int64
    private let state: NIOLoopBoundBox<State>

    /// Creates a sender. The connection must keep ``RedisFunctionLibrary/streams`` loaded.
    /// - Parameters:
    ///   - sender: the process on whose topic the replies arrive; its subscriber passes them to ``received(_:_:)``.
    ///   - maxPending: the largest number of unanswered commands; default 65,536. Further ones fail with `overloaded`.
    ///   - level: the lowest level of the running processes; nil (the default) for this build's. Commands of a higher
    ///     level fail with `cluster_level`: a process that does not know them might get them.
    package init(
        sender: AskerID, connection: RedisClient, logger: Logger, maxPending: Int = 65_536,
        level: (@Sendable () -> Int64)? = nil
    ) {
        self.sender = sender
        self.connection = connection
        self.logger = logger
        self.maxPending = maxPending
        self.level = level ?? { ClusterLevel.current }
        state = .makeBoxSendingValue(State(), eventLoop: connection.eventLoop)
        connection.onConnected { [weak self] slots in self?.connected(slots) }
    }

    /// The number of commands waiting for a reply; on the loop only.
    package var pendingCount: Int { state.value.pending.count }

    /// Sends a command; on the loop only. The completion is called there once: with the reply, the service's error,
    /// `timeout` up to 0.1 s after the deadline, `node_unreachable` when it is for one media node that is gone, or
    /// `unavailable` or `overloaded`, in which case possibly before this returns.
    /// - Parameters:
    ///   - id: the command's id, by which a repetition is recognised; nil for a new one. While a command with it is
    ///     pending, another fails with the reason `busy`.
    ///   - cause: which request it is sent for; default: none that is known.
    ///   - time: the time until the deadline; default 8 s.
    package func send<C: ServiceCommand>(
        _ command: C, as id: CommandID? = nil, for cause: CommandCause = CommandCause(),
        within time: Duration = .seconds(8),
        _ completion: @escaping (Result<C.Reply, SignalingError>) -> Void
    ) {
        send(command, as: id, for: cause, by: .now() + TimeAmount(time), completion)
    }

    /// Sends a command as ``send(_:within:_:)`` does, with a deadline that may have
    /// passed already; it is not sent then.
    /// - Parameter deadline: when the requester gives up, counted from its request.
    package func send<C: ServiceCommand>(
        _ command: C, as id: CommandID? = nil, for cause: CommandCause = CommandCause(), by deadline: NIODeadline,
        _ completion: @escaping (Result<C.Reply, SignalingError>) -> Void
    ) {
        guard deadline > .now() else { return completion(.failure(.timeout())) }
        if let refusal = refusal(of: C.level) { return completion(.failure(refusal)) }
        guard state.value.pending.count < maxPending else {
            RedisMetrics.shared.requestBoundHit.increment()
            return completion(
                .failure(
                    SignalingError(.failed, .overloaded, "\(maxPending) commands already wait for an answer; try again")
                ))
        }
        state.value.counter += 1
        let id = id ?? CommandID("\(sender.id)-\(state.value.counter)")
        guard state.value.pending[id] == nil else {
            let message = "an earlier attempt of the same command is under way; try again"
            return completion(.failure(SignalingError(.failed, .busy, message)))
        }
        let partition = C.goesToAnyPartition ? reachablePartition() : connection.bus.partition(of: command.subject)
        state.value.pending[id] = Pending(
            operation: C.operation, stream: Self.stream(of: command, in: partition), slot: partition.slot,
            fields: command.fields, cause: cause, isVital: command.isVital, isForOne: command.node != nil,
            deadline: deadline
        ) { outcome in
            completion(
                outcome.flatMap { bytes in
                    do throws(SignalingError) {
                        return .success(try C.Reply(from: FieldReader(encoded: bytes)))
                    } catch {
                        return .failure(error)
                    }
                })
        }
        state.value.buckets[Self.bucket(of: deadline), default: []].append(id)
        armTimer()
        post(id)
    }

    private static func stream(of command: some ServiceCommand, in partition: BusPartition) -> String {
        command.node.map { KeySpace.commands($0, in: partition) }
            ?? KeySpace.commands(type(of: command).service, in: partition)
    }

    /// A partition drawn among those whose master can be reached; among all while none can. What failed because a
    /// master has become silent, which is not known yet, probably goes elsewhere when it is asked again.
    private func reachablePartition() -> BusPartition {
        let partitions = connection.bus.partitions
        guard partitions.count > 1 else { return partitions[0] }
        let reachable = partitions.filter { connection.isReachable(slot: $0.slot) }
        return reachable.randomElement() ?? partitions[.random(in: partitions.indices)]
    }

    private func refusal(of needed: Int64) -> SignalingError? {
        // Most commands are known to all.
        guard needed > 1 else { return nil }
        let level = level()
        guard level < needed else { return nil }
        return SignalingError(
            .failed, .clusterLevel,
            "this needs all processes of the cluster at level \(needed), and one has \(level): an upgrade is not "
                + "finished"
        )
    }

    /// Takes a reply from the sender's topic; on the loop only. A reply that is late or repeated, so that
    /// nothing waits for it, is ignored.
    package func received(_ id: CommandID, _ outcome: Result<[UInt8], SignalingError>) {
        state.value.pending.removeValue(forKey: id)?.completion(outcome)
    }

    /// Sends unanswered commands again, with the same ids; on the loop only. Call it when replies may have been lost
    /// because the subscriber was disconnected. After a reconnect of the command connection it happens automatically.
    ///
    /// A command is sent again only once per command connection: its reply may be the very message that breaks the
    /// subscription, and would break it each time.
    /// - Parameter slots: where replies may have been lost: a reply is published in the slot of its command's stream.
    package func resendPending(_ slots: SlotScope = .all) {
        var ids: [CommandID] = []
        for id in pending(in: slots) {
            // What was sent to a master that is away is sent again when that is connected.
            guard let entry = state.value.pending[id], let term = connection.term(ofSlot: entry.slot)?.number,
                entry.repeatedIn != term
            else { continue }
            state.value.pending[id]?.repeatedIn = term
            if entry.isSending { state.value.pending[id]?.isRepeatedWhenSent = true } else { ids.append(id) }
        }
        resend(ids)
    }

    private func connected(_ slots: SlotScope) {
        resend(pending(in: slots).filter { state.value.pending[$0]?.isSending == false })
    }

    private func pending(in slots: SlotScope) -> [CommandID] {
        state.value.pending.compactMap { id, entry in slots.contains(entry.slot) ? id : nil }
    }

    private func resend(_ ids: [CommandID]) {
        if !ids.isEmpty { logger.info("sending unanswered commands again", metadata: ["count": "\(ids.count)"]) }
        for id in ids { post(id) }
    }

    /// Appends a command to its stream.
    /// - Parameter evenIfFull: whether Redis has refused it at `maxmemory`, so that it must be appended as a vital one.
    private func post(_ id: CommandID, evenIfFull: Bool = false) {
        guard let entry = state.value.pending[id] else { return }
        // Without Redis' time there is no deadline to send. This happens only before the first connection,
        // which sends all pending commands.
        guard let until = entry.until ?? connection.redisTime(at: entry.deadline, ofSlot: entry.slot) else { return }
        self.state.value.pending[id]?.until = until
        let term = connection.term(ofSlot: entry.slot)?.number
        self.state.value.pending[id]?.isSending = true
        let envelope = CommandEnvelope(
            operation: entry.operation, id: id, from: sender, deadline: until, cause: entry.cause)
        let command = envelope.adding(
            entry.fields, to: entry.stream, onlyIfThere: entry.isForOne, isVital: evenIfFull
        ).inSlot(entry.slot)
        connection.send(command) { result in
            self.state.value.pending[id]?.isSending = false
            let isRepeated = self.state.value.pending[id]?.isRepeatedWhenSent == true
            self.state.value.pending[id]?.isRepeatedWhenSent = false
            let error: RedisError
            switch result {
            case .success(let reply):
                if entry.isForOne, reply.isNull { self.received(id, .failure(Self.nodeIsGone)) }
                if isRepeated { self.resend([id]) }
                return
            case .failure(let failure): error = failure
            }
            switch error.code {
            case .closed, .timeout:
                // The outcome is unknown: the command is sent again after the reconnect, unless its deadline has passed
                // by then. Where another master has taken the slot over, that was before the loss was known.
                let now = self.connection.term(ofSlot: entry.slot)?.number
                if let now, now != term { self.post(id) }
            case .outOfMemory where entry.isVital && !evenIfFull:
                self.post(id, evenIfFull: true)
            default:
                self.logger.about(entry.cause, id).warning(
                    "could not send command", metadata: ["command": "\(id)", "error": "\(error.code)"])
                self.state.value.pending.removeValue(forKey: id)?.completion(.failure(error.signaling))
            }
        }
    }

    private static let nodeIsGone = SignalingError(
        .failed, .nodeUnreachable, "the media node that the command is for is gone")

    private static func bucket(of deadline: NIODeadline) -> UInt64 {
        deadline.uptimeNanoseconds / UInt64(bucketWidth.nanoseconds)
    }

    private func armTimer() {
        guard !state.value.isTimerArmed else { return }
        state.value.isTimerArmed = true
        connection.eventLoop.scheduleTask(in: Self.bucketWidth) { self.expire() }
    }

    private func expire() {
        state.value.isTimerArmed = false
        let present = Self.bucket(of: .now())
        for bucket in state.value.buckets.keys.filter({ $0 < present }).sorted() {
            for id in state.value.buckets.removeValue(forKey: bucket) ?? [] {
                // A command that was sent anew with its id has a later deadline.
                guard let pending = state.value.pending[id], Self.bucket(of: pending.deadline) <= bucket else {
                    continue
                }
                state.value.pending[id] = nil
                pending.completion(.failure(.timeout()))
            }
        }
        // The ids of answered commands stay in their buckets until the bucket's time.
        if state.value.pending.isEmpty { state.value.buckets = [:] } else { armTimer() }
    }
}
