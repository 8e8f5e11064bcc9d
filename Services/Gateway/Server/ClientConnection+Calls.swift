internal import CoreMetrics
internal import GatewayLogic
internal import Logging
internal import NIOCore
internal import NIOWebSocket
internal import SignalingProtocol
internal import SignalingWire

/// A call that waits for its turn.
struct QueuedCall {
    /// The client's own number, written back as it came.
    let id: String
    /// What is asked, or why it is refused.
    let call: Result<ClientCall, SignalingError>
    let ordering: CallPipeline<QueuedCall>.Ordering
}

/// The functions of `call2`.
extension ClientConnection {
    /// Queues a call; calls are answered in the order they came.
    func received(_ request: CallRequest) {
        GatewayMetrics.calls.increment()
        guard machine.takesCalls else {
            return send(
                ServerFrame.callFailed(
                    id: request.id, SignalingError(.notLoggedIn, "not_logged_in", "log in before calling functions")))
        }
        let call = admitted(request)
        let ordering: CallPipeline<QueuedCall>.Ordering =
            if case .success(let call) = call, call.act.isMessage { .message } else { .exclusive }
        guard let started = calls.enqueue(QueuedCall(id: request.id, call: call, ordering: ordering), ordering) else {
            return violate(.policyViolation, "more than \(CallPipeline<QueuedCall>.bound) calls unanswered")
        }
        start(started)
    }

    func start(_ started: [QueuedCall]) {
        for call in started { start(call) }
    }

    /// Counts messages when they arrive, not when their turn comes.
    private func admitted(_ request: CallRequest) -> Result<ClientCall, SignalingError> {
        do {
            let call = try request.call.get()
            let now = Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000)
            let admitted =
                switch call.act {
                case .sendChannelMessage: channelMessages.admit(now: now)
                case .sendMessage: instantMessages.admit(now: now)
                default: true
                }
            if admitted { return .success(call) }
            GatewayMetrics.limited.increment()
            return .failure(
                SignalingError(.messageOther, "rate_limited", "more than \(limits.messagesPerSecond) messages a second")
            )
        } catch {
            return .failure(error)
        }
    }

    private func start(_ queued: QueuedCall) {
        guard let session = machine.activeSession else { return }
        switch queued.call {
        case .failure(let error):
            answer(queued, .failure(error))
        case .success(let call):
            guard call.isOnItsLine else {
                return answer(
                    queued, .failure(SignalingError(.notLoggedIn, "bad_line", "the line is not this connection's")))
            }
            perform(call, session) { [self] in answer(queued, $0) }
        }
    }

    /// Writes a call's answer and starts what waited for it.
    private func answer(_ queued: QueuedCall, _ result: Result<ReplyBody, SignalingError>) {
        switch result {
        case .success(let body): send(ServerFrame.callSucceeded(id: queued.id, body))
        case .failure(let error):
            GatewayMetrics.callFailures.increment()
            send(ServerFrame.callFailed(id: queued.id, error))
        }
        // Before the next call starts, which may be a join of another channel.
        let next = afterAnswer
        afterAnswer = nil
        next?()
        start(calls.completed(queued.ordering))
    }
}
