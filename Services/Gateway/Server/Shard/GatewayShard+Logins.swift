internal import BusProtocol
internal import ClusterBus
internal import GatewayLogic
internal import NIOCore
internal import Pacing
internal import SignalingProtocol

/// Asks presence to open sessions, or to move them here.
extension GatewayShard {
    /// Asks presence when it is this login's or resume's turn. Presence is not asked for a client that has gone while
    /// it waited, which fails with `overloaded` too.
    /// - Parameters:
    ///   - deadline: when the client's time is over. Without a turn until then, it fails with `overloaded`, and
    ///     presence is not asked.
    ///   - completion: as of `CommandSender/send(_:as:for:by:_:)`.
    func ask<C: ServiceCommand>(
        _ command: C, for client: ClientConnection, inTurnBy deadline: LocalTime,
        _ completion: @escaping (Result<C.Reply, SignalingError>) -> Void
    ) {
        let login: WaitingLogin = { [self] ticket in
            guard let ticket, client.context != nil else {
                if let ticket { logins.answered(ticket) }
                let message = "\(LoginQueue<WaitingLogin>.bound) logins at a time, and this one's turn did not come"
                return completion(.failure(SignalingError(.failed, .overloaded, message)))
            }
            sender.send(command, by: deadline.deadline) { [self] result in
                logins.answered(ticket)
                completion(result)
                takeTurns()
            }
        }
        logins.add(login, by: deadline)
        takeTurns()
    }

    private func takeTurns() {
        // One that fails at once leads here again.
        guard !isTakingTurns else { return }
        isTakingTurns = true
        defer { isTakingTurns = false }
        while true {
            switch logins.next(now: .now) {
            case .ask(let login, let ticket): login(ticket)
            case .refuse(let login): login(nil)
            case .wait(let time): return takeTurns(at: time)
            case .none: return
            }
        }
    }

    private func takeTurns(at time: LocalTime) {
        guard !takesTurnsLater else { return }
        takesTurnsLater = true
        eventLoop.assumeIsolated().scheduleTask(deadline: time.deadline) { [self] in
            takesTurnsLater = false
            takeTurns()
        }
    }
}
