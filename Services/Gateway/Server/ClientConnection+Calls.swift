internal import CoreMetrics
internal import GatewayLogic
internal import Logging
internal import NIOCore
internal import SignalingProtocol
internal import SignalingWire

/// A call that waits for its turn.
struct QueuedCall {
    let turn: CallTurn
    /// What is asked, or why it is refused.
    let call: Result<ClientCall, SignalingError>
}

/// What is needed of a call to answer it.
struct CallTurn {
    /// The client's own number, written back as it came.
    let id: String
    let ordering: CallPipeline<QueuedCall>.Ordering
}

/// The functions of `call2`.
extension ClientConnection {
    /// Starts a call, or queues it; calls are answered in the order they came.
    func received(_ request: CallRequest) {
        GatewayMetrics.calls.increment()
        guard machine.takesCalls else {
            return send(
                ServerFrame.callFailed(
                    id: request.id, SignalingError(.notLoggedIn, "not_logged_in", "log in before calling functions")))
        }
        switch request.call {
        case .success(let call):
            if let refusal = refusal(of: call.act) {
                enter(QueuedCall(turn: CallTurn(id: request.id, ordering: .exclusive), call: .failure(refusal)))
            } else {
                let ordering: CallPipeline<QueuedCall>.Ordering = call.act.isMessage ? .message : .exclusive
                enter(QueuedCall(turn: CallTurn(id: request.id, ordering: ordering), call: request.call))
            }
        case .failure:
            enter(QueuedCall(turn: CallTurn(id: request.id, ordering: .exclusive), call: request.call))
        }
    }

    private func enter(_ queued: QueuedCall) {
        switch calls.enter(queued, queued.turn.ordering) {
        case .start: start(queued)
        case .wait: break
        case .full: violate(.policyViolation, "more than \(CallPipeline<QueuedCall>.bound) calls unanswered")
        }
    }

    /// Starts what waited and need wait no longer.
    func startWaiting() {
        while let next = calls.next() { start(next) }
    }

    /// Counts messages when they arrive, not when their turn comes.
    private func refusal(of act: ClientCall.Act) -> SignalingError? {
        let now = Int64(lastRead.uptimeNanoseconds / 1_000_000)
        let admitted =
            switch act {
            case .sendChannelMessage: channelMessages.admit(now: now)
            case .sendMessage: instantMessages.admit(now: now)
            default: true
            }
        if admitted { return nil }
        GatewayMetrics.limited.increment()
        return SignalingError(
            .messageOther, "rate_limited", "more than \(limits.messagesPerSecond) messages a second")
    }

    private func start(_ queued: QueuedCall) {
        guard let session = active else { return }
        switch queued.call {
        case .failure(let error):
            answer(queued.turn, .failure(error))
        case .success(let call):
            guard call.isOnItsLine else {
                return answer(
                    queued.turn,
                    .failure(SignalingError(.notLoggedIn, "bad_line", "the line is not this connection's")))
            }
            perform(call, session, queued.turn)
        }
    }

    /// Writes a call's answer and starts what waited for it.
    func answer(_ turn: CallTurn, _ result: Result<ReplyBody, SignalingError>) {
        switch result {
        case .success(let body): send(ServerFrame.callSucceeded(id: turn.id, body))
        case .failure(let error):
            GatewayMetrics.callFailures.increment()
            send(ServerFrame.callFailed(id: turn.id, error))
        }
        // Before the next call starts, which may be a join of another channel.
        if let next = afterAnswer {
            afterAnswer = nil
            next()
        }
        calls.completed(turn.ordering)
        startWaiting()
    }
}
