internal import ClusterState
package import Logging
package import NIOCore
package import SignalingProtocol
package import SignalingWire

/// Sends a gateway's commands to the services and matches the answers.
///
/// A command stays pending until its answer or its deadline, which counts from the one who asks: it is stamped on the
/// command, by Redis' clock, so that a command that waits, here, in a socket or on the stream, has no effect after it.
/// After an outage of Redis, unanswered ones are sent again under the same id, which makes them take effect once.
///
/// What is pending belongs to the connection's event loop, which every use of it checks.
package final class CommandSender: Sendable {
    private struct Pending {
        let operation: String
        let stream: String
        let fields: FieldWriter
        let isVital: Bool
        let deadline: NIODeadline
        /// The deadline by Redis' clock; nil before that was heard of.
        var until: RedisTime?
        /// Whether the connection has not yet said what became of the XADD.
        var isSending = false
        /// On which of the command connections it was sent again because answers may have been lost.
        var repeatedOn: Int?
        let completion: (Result<[UInt8], SignalingError>) -> Void
    }

    private struct State {
        /// Commands that were ever sent: what makes their ids differ.
        var counter: UInt64 = 0
        var pending: [CommandID: Pending] = [:]
        /// Ids by their deadline, in units of ``bucketNanoseconds``.
        var buckets: [UInt64: [CommandID]] = [:]
        var isTimerArmed = false
    }

    /// Deadlines are kept in buckets of this width: cheaper than a timer per command.
    private static let bucketNanoseconds: UInt64 = 100_000_000

    private let sender: GatewayID
    private let connection: RedisConnection
    private let logger: Logger
    private let maxPending: Int
    private let state: NIOLoopBoundBox<State>

    /// Makes a sender. The connection must keep ``RedisFunctionLibrary/streams`` loaded.
    /// - Parameters:
    ///   - sender: whose topic (``SignalingProtocol/KeySpace``) the answers come to; hand them to ``received(_:_:)``.
    ///   - maxPending: unanswered commands; default 65,536. One more fails (`overloaded`).
    package init(sender: GatewayID, connection: RedisConnection, logger: Logger, maxPending: Int = 65_536) {
        self.sender = sender
        self.connection = connection
        self.logger = logger
        self.maxPending = maxPending
        state = .makeBoxSendingValue(State(), eventLoop: connection.eventLoop)
        connection.onConnected { [weak self] in self?.connected() }
    }

    /// How many commands wait for an answer; on the loop only.
    package var pendingCount: Int { state.value.pending.count }

    /// Sends a command; on the loop only. The completion comes there once, with the answer, the service's error, `timeout`
    /// at the deadline (0...0.1 s late), or `unavailable` or `overloaded`, possibly before this returns.
    /// - Parameter time: until the deadline; default 8 s.
    package func send<C: WireCommand>(
        _ command: C, within time: TimeAmount = .seconds(8),
        _ completion: @escaping (Result<C.Reply, SignalingError>) -> Void
    ) {
        send(command, by: .now() + time, completion)
    }

    /// Sends a command, as ``send(_:within:_:)`` does; at its deadline, or past it, it is not sent at all.
    /// - Parameter deadline: when its asker gives up: counted from the moment at which it asked.
    package func send<C: WireCommand>(
        _ command: C, by deadline: NIODeadline, _ completion: @escaping (Result<C.Reply, SignalingError>) -> Void
    ) {
        guard deadline > .now() else { return completion(.failure(.timeout())) }
        guard state.value.pending.count < maxPending else {
            return completion(
                .failure(SignalingError(.failed, .overloaded, "\(maxPending) commands wait for an answer, try again")))
        }
        state.value.counter += 1
        let id = CommandID("\(sender.rawValue)-\(state.value.counter)")
        state.value.pending[id] = Pending(
            operation: C.operation, stream: KeySpace.commands(C.service), fields: command.fields,
            isVital: command.isVital, deadline: deadline
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
        state.value.buckets[deadline.uptimeNanoseconds / Self.bucketNanoseconds, default: []].append(id)
        armTimer()
        post(id)
    }

    /// An answer came on the sender's topic; on the loop only. An answer that nobody waits for (late, or given twice) is
    /// dropped.
    package func received(_ id: CommandID, _ outcome: Result<[UInt8], SignalingError>) {
        state.value.pending.removeValue(forKey: id)?.completion(outcome)
    }

    /// Sends unanswered commands again, under their ids; on the loop only. To be called when answers may have been lost:
    /// after the subscriber's outage. After the command connection's it happens by itself.
    ///
    /// While the command connection stands, a command is sent again once only: it may be its answer that broke the
    /// subscription.
    package func resendPending() {
        let connections = connection.connectionCount
        let ids = state.value.pending.filter { !$0.value.isSending && $0.value.repeatedOn != connections }.map(\.key)
        for id in ids { state.value.pending[id]?.repeatedOn = connections }
        resend(ids)
    }

    private func connected() { resend(state.value.pending.filter { !$0.value.isSending }.map(\.key)) }

    private func resend(_ ids: [CommandID]) {
        if !ids.isEmpty { logger.info("sending unanswered commands again", metadata: ["count": "\(ids.count)"]) }
        for id in ids { post(id) }
    }

    /// Puts a command on its stream; `evenIfFull` when Redis has refused it for want of memory.
    private func post(_ id: CommandID, evenIfFull: Bool = false) {
        guard let entry = state.value.pending[id] else { return }
        // Redis' clock is not known before the first connection, which sends everything that is pending.
        guard let until = entry.until ?? deadlineByRedis(entry.deadline) else { return }
        self.state.value.pending[id]?.until = until
        self.state.value.pending[id]?.isSending = true
        let envelope = CommandEnvelope(operation: entry.operation, id: id, from: sender, deadline: until)
        connection.send(envelope.adding(entry.fields, to: entry.stream, isVital: evenIfFull)) { result in
            self.state.value.pending[id]?.isSending = false
            guard case .failure(let error) = result else { return }
            switch error.code {
            case .closed, .timeout:
                // The outcome is unknown: it is sent again when the connection is back, unless its deadline has passed.
                break
            case .outOfMemory where entry.isVital && !evenIfFull:
                self.post(id, evenIfFull: true)
            default:
                self.logger.warning(
                    "could not send command", metadata: ["command": "\(id)", "error": "\(error.code)"])
                self.state.value.pending.removeValue(forKey: id)?.completion(.failure(error.signaling))
            }
        }
    }

    /// A deadline of this process by Redis' clock.
    private func deadlineByRedis(_ deadline: NIODeadline) -> RedisTime? {
        guard let now = connection.clock.now else { return nil }
        return now + .nanoseconds(max(0, (deadline - .now()).nanoseconds))
    }

    private func armTimer() {
        guard !state.value.isTimerArmed else { return }
        state.value.isTimerArmed = true
        connection.eventLoop.scheduleTask(in: .nanoseconds(Int64(Self.bucketNanoseconds))) { self.expire() }
    }

    private func expire() {
        state.value.isTimerArmed = false
        let present = NIODeadline.now().uptimeNanoseconds / Self.bucketNanoseconds
        for bucket in state.value.buckets.keys.filter({ $0 < present }).sorted() {
            for id in state.value.buckets.removeValue(forKey: bucket) ?? [] {
                state.value.pending.removeValue(forKey: id)?.completion(.failure(.timeout()))
            }
        }
        // Answered commands leave their ids behind until their bucket's time.
        if state.value.pending.isEmpty { state.value.buckets = [:] } else { armTimer() }
    }
}
