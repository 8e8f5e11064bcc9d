internal import BusProtocol
internal import SignalingProtocol

/// Changes of an established session: re-INVITE, UPDATE, session timers.
extension DialogStateMachine {
    /// The number of seconds after which an early UPDATE with an offer may be tried again.
    private static let retryAfter = Duration.seconds(3)

    // MARK: - The peer's requests

    /// Handles a re-INVITE or UPDATE from the peer.
    package mutating func offered(_ offer: DialogOffer, _ session: SessionTimerFields) -> [DialogAction] {
        switch state {
        case .up(var established):
            switch established.response {
            case .deciding: return [.respond(.retryLater(after: Self.retryAfter))]
            case .unacknowledged(_, wantsDescription: true): return [.respond(.pending)]
            case .unacknowledged(_, wantsDescription: false), nil: break
            }
            // Glare: an offer of ours is not answered yet.
            if offer.wantsAnswer, established.ownRequest == .reinvite || established.applying != nil {
                return [.respond(.pending)]
            }
            switch policy.answer(session) {
            case .tooSmall(let minimum):
                return [.respond(.intervalTooSmall(minimum: minimum))]
            case .agreed(let timer, let headers):
                if let allows = session.allowsUpdate { established.allowsUpdate = allows }
                guard offer.wantsAnswer else {
                    established.timer = timer
                    state = .up(established)
                    return [.respond(.refreshed(headers))] + run(timer)
                }
                // A new INVITE shows that the peer has received our last 2xx, even if its ACK was lost.
                let isUnacknowledged = established.response != nil
                established.response = .deciding(offer, timer)
                state = .up(established)
                return (isUnacknowledged ? [.cancel(.retransmission), .cancel(.acknowledgement)] : [])
                    + [.answerOffer(offer, headers)]
            }
        case .inbound(.answering), .outbound(.confirming):
            return [.respond(.pending)]  // It arrived before the ACK (RFC 5407, 3.1.4).
        case .inbound(.inviting), .inbound(.alerting), .outbound(.calling):
            // Without reliable provisional responses there is no offer before the answer (RFC 3311, 5.1).
            return [.respond(offer.wantsAnswer ? .retryLater(after: Self.retryAfter) : .ok)]
        case .fresh, .outbound(.claiming), .outbound(.preparing), .outbound(.cancelling), .leaving, .over:
            return [.respond(.unknownDialog)]
        }
    }

    /// Takes the outcome of ``DialogAction/answerOffer(_:_:)``.
    /// - Parameter isAccepted: false when the offer was refused and the session has not changed.
    package mutating func offerAnswered(_ isAccepted: Bool) -> [DialogAction] {
        switch state {
        case .up(var established):
            switch established.response {
            case .deciding(let offer, let timer):
                established.response = nil
                guard isAccepted else {
                    state = .up(established)
                    return []
                }
                established.timer = timer
                switch offer.kind {
                case .update:
                    state = .up(established)
                    return run(timer)
                case .reinvite:
                    established.response = .unacknowledged(pause: durations.t1, wantsDescription: !offer.hasDescription)
                    state = .up(established)
                    return [
                        .schedule(.retransmission, after: durations.t1),
                        .schedule(.acknowledgement, after: durations.transaction),
                    ] + run(timer)
                }
            case .unacknowledged, nil:
                return []
            }
        case .fresh, .outbound, .inbound, .leaving, .over:
            return []  // The call has ended meanwhile.
        }
    }

    // MARK: - Our requests

    /// Starts a session timer, or stops it.
    func run(_ timer: SessionTimer?) -> [DialogAction] {
        guard let timer else { return [.cancel(.refresh), .cancel(.expiry)] }
        return [
            timer.isOurs ? .schedule(.refresh, after: timer.refreshAfter) : .cancel(.refresh),
            .schedule(.expiry, after: timer.expireAfter),
        ]
    }

    /// Called when it is our turn to refresh the session.
    mutating func refreshDue() -> [DialogAction] {
        switch state {
        case .up(var established):
            // The peer is changing the session: if that succeeds it is a refresh, otherwise this timer fires again.
            guard established.ownRequest == nil, established.response == nil, let timer = established.timer else {
                return []
            }
            established.ownRequest = established.allowsUpdate ? .update : .reinvite
            state = .up(established)
            let headers = policy.request(timer, minimum: established.minimum)
            return [established.allowsUpdate ? .sendUpdate(headers) : .sendReinvite(headers)]
        case .fresh, .outbound, .inbound, .leaving, .over:
            return []  // The call has ended meanwhile.
        }
    }

    /// Takes the final response to our UPDATE or re-INVITE.
    /// - Parameter dice: a random number, for the pause after a glare.
    package mutating func refreshAnswered(_ response: DialogResponse, dice: UInt32) -> [DialogAction] {
        switch state {
        case .up(var established):
            guard let own = established.ownRequest else { return [] }
            established.ownRequest = nil
            if (200..<300).contains(response.status) {
                established.timer = policy.agreed(response.session)
                if let allows = response.session.allowsUpdate { established.allowsUpdate = allows }
                established.applying = own == .reinvite ? .later : nil
                state = .up(established)
                return (own == .reinvite ? [.acknowledge(tag: peerTag ?? response.tag), .takeDescription] : [])
                    + run(established.timer)
            }
            return refreshRefused(established, own, response, dice)
        case .leaving, .over:
            // A 2xx that arrives after our BYE must still be acknowledged.
            guard (200..<300).contains(response.status) else { return [] }
            return [.acknowledge(tag: peerTag ?? response.tag)]
        case .fresh, .outbound, .inbound:
            return []
        }
    }

    /// Called when our UPDATE or re-INVITE got no response: the peer is gone (RFC 3261, 12.2.1.2). From up to leaving.
    package mutating func refreshFailed(_ failure: DialogFailure) -> [DialogAction] {
        switch state {
        case .up(let established) where established.ownRequest != nil:
            let reason: DialogReason =
                switch failure {
                case .timedOut: .sessionExpired
                case .unreachable: .unreachable
                }
            return [.report(.ended(.inviteNetwork), DialogNote(reason))] + leave()
        case .fresh, .outbound, .inbound, .up, .leaving, .over:
            return []  // The call has ended, or the request was answered already.
        }
    }

    private mutating func refreshRefused(
        _ before: DialogState.Established, _ own: DialogState.Established.OwnRequest, _ response: DialogResponse,
        _ dice: UInt32
    ) -> [DialogAction] {
        var established = before
        switch response.status {
        case 408, 481:
            return [.report(.ended(.inviteNetwork), DialogNote(.dialogLost, response))] + leave()
        case 491:
            // The side that chose the Call-ID waits 2.1 to 4 s, the other one 0 to 2 s, in steps of 10 ms (RFC 3261,
            // 14.1).
            let pause = established.isCaller ? 2100 + dice % 191 * 10 : dice % 201 * 10
            state = .up(established)
            return [.schedule(.glare, after: .milliseconds(pause))]
        case 422:
            guard let minimum = policy.minimumAfterRefusal(response.session, before: established.minimum) else { break }
            established.minimum = minimum
            established.ownRequest = own
            state = .up(established)
            let headers = policy.request(established.timer, minimum: minimum)
            return [own == .update ? .sendUpdate(headers) : .sendReinvite(headers)]
        case 405, 501:
            guard own == .update else { break }
            established.allowsUpdate = false
            established.ownRequest = .reinvite
            state = .up(established)
            return [.sendReinvite(policy.request(established.timer, minimum: established.minimum))]
        default:
            break
        }
        // The call continues, as after a 488; unless a later refresh succeeds, it ends when the session expires.
        state = .up(established)
        return established.timer.map { [.schedule(.refresh, after: $0.refreshAfter / 2)] } ?? []
    }

    /// Called when the session was not refreshed in time. From up to leaving.
    mutating func sessionExpired() -> [DialogAction] {
        switch state {
        case .up:
            return [.report(.ended(.inviteNetwork), DialogNote(.sessionExpired))] + leave()
        case .fresh, .outbound, .inbound, .leaving, .over:
            return []  // The call has ended meanwhile.
        }
    }
}
