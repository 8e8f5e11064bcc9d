internal import CoreMetrics
internal import GatewayLogic
internal import Logging
internal import NIOCore
internal import SignalingProtocol
internal import SignalingWire
internal import WebSocketWire

/// The functions of `call2`.
extension ClientConnection {
    /// What is left of the time of the exclusive act that is under way.
    var timeLeft: TimeAmount { max(.milliseconds(1), actDeadline - .now()) }

    /// Starts a call, or queues it; calls are answered in the order they came.
    func received(_ request: CallRequest, on shard: isolated GatewayShard) {
        GatewayMetrics.calls.increment()
        guard machine.takesCalls else {
            return send(
                ServerFrame.callFailed(
                    id: request.id, SignalingError(.notLoggedIn, "not_logged_in", "log in before calling functions")),
                on: shard)
        }
        switch request.call {
        case .success(let call):
            if let refusal = refusal(of: call.act, on: shard) {
                enter(request.id, .exclusive, .failure(refusal), on: shard)
            } else {
                enter(request.id, call.act.isMessage ? .message : .exclusive, request.call, on: shard)
            }
        case .failure:
            enter(request.id, .exclusive, request.call, on: shard)
        }
    }

    private func enter(
        _ id: String, _ ordering: CallPipeline.Ordering, _ call: Result<ClientCall, SignalingError>,
        on shard: isolated GatewayShard
    ) {
        let turn = CallTurn(id: id, ordering: ordering, arrivedAt: lastRead.uptimeNanoseconds)
        let queued = QueuedCall(turn: turn, call: call, bytes: shard.payload.count)
        switch calls.enter(queued) {
        case .start: start(queued, isNew: true, on: shard)
        case .wait: regulateReading()
        case .full: violate(.policyViolation, "more than \(CallPipeline.bound) calls unanswered", on: shard)
        }
    }

    /// Starts what waited and need wait no longer.
    func startWaiting(on shard: isolated GatewayShard) {
        // Many may be answered at once, each from within the one before: they are started in a row, not in each other.
        guard !isStartingCalls else { return }
        isStartingCalls = true
        while let next = calls.next() { start(next, on: shard) }
        isStartingCalls = false
        regulateReading()
    }

    /// Counts what is asked when it arrives, not when its turn comes.
    private func refusal(of act: ClientCall.Act, on shard: isolated GatewayShard) -> SignalingError? {
        guard let refusal = rates.refusal(of: act, now: Int64(lastRead.uptimeNanoseconds / 1_000_000)) else {
            return nil
        }
        (act.isMessage ? GatewayMetrics.limited : GatewayMetrics.actsLimited).increment()
        return refusal
    }

    /// - Parameter isNew: whether it has just come, so that the clock need not be asked.
    private func start(_ queued: QueuedCall, isNew: Bool = false, on shard: isolated GatewayShard) {
        guard let session = active else { return }
        switch queued.call {
        case .failure(let error):
            answer(queued.turn, .failure(error), on: shard)
        case .success(let call):
            guard call.isOnItsLine else {
                return answer(
                    queued.turn,
                    .failure(SignalingError(.notLoggedIn, "bad_line", "the line is not this connection's")), on: shard)
            }
            let deadline = NIODeadline.uptimeNanoseconds(queued.turn.arrivedAt) + shard.configuration.commandTimeout
            guard isNew || .now() < deadline else {
                GatewayMetrics.overdue.increment()
                return answer(queued.turn, .failure(.timeout(call.act.timeoutCode)), on: shard)
            }
            actDeadline = deadline
            perform(call, session, queued.turn, on: shard)
        }
    }

    /// Writes a call's answer and starts what waited for it.
    func answer(_ turn: CallTurn, _ result: Result<ReplyBody, SignalingError>, on shard: isolated GatewayShard) {
        switch result {
        case .success(let body):
            let frame = ServerFrame.callSucceeded(id: turn.id, body)
            rates.answered(bytes: frame.count, isPoll: body.isMailbox)
            send(frame, isAnswer: true, on: shard)
        case .failure(let error):
            GatewayMetrics.callFailures.increment()
            send(ServerFrame.callFailed(id: turn.id, error), on: shard)
        }
        // Before the next call starts, which may be a join of another channel.
        if let next = afterAnswer {
            afterAnswer = nil
            next()
        }
        calls.completed(turn.ordering)
        startWaiting(on: shard)
    }
}

extension ReplyBody {
    /// Whether it answers a poll.
    fileprivate var isMailbox: Bool { if case .mailbox = self { true } else { false } }
}

extension ClientCall.Act {
    /// The code that the documents give this function's timeout.
    fileprivate var timeoutCode: SignalingCode {
        switch self {
        case .sendMessage, .sendChannelMessage: .messageTimeout
        case .countMembers: .userNumberTimeout
        case .pollMailbox, .logOut, .queryStatus, .setAttribute, .getAttribute, .listAttributes, .join, .leave,
            .changeAttributes, .queryMember, .listMembers, .call:
            .failed
        }
    }
}
