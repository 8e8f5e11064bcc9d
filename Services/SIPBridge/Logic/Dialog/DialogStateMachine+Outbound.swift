internal import BusProtocol
package import SignalingProtocol

/// Calls to a telephone.
extension DialogStateMachine {
    /// Starts a call to a telephone. From fresh to claiming.
    package mutating func dial() -> [DialogAction] {
        guard state == .fresh else { return [] }
        state = .outbound(.claiming)
        return [.report(.claimed, DialogNote())]
    }

    /// Takes the invitation service's reply to the claim. From claiming to preparing; or to over when another bridge
    /// has the call.
    package mutating func claimAnswered(continues: Bool) -> [DialogAction] {
        guard state == .outbound(.claiming) else { return [] }  // An order came first.
        guard continues else { return finish() }
        state = .outbound(.preparing)
        return [.outbound(.prepare)]
    }

    /// Called when trunk, dialog and offer are ready. From preparing to calling.
    /// - Parameter ring: how long the telephone may ring.
    package mutating func prepared(ring: Duration) -> [DialogAction] {
        guard state == .outbound(.preparing) else { return [] }  // An order came first.
        state = .outbound(.calling(DialogState.Calling()))
        return [.outbound(.sendInvite(policy.request(nil, minimum: nil))), .schedule(.ring, after: ring)]
    }

    /// Called when the telephone cannot be called. From preparing to over.
    package mutating func unprepared(_ code: SignalingCode, _ reason: DialogReason) -> [DialogAction] {
        guard state == .outbound(.preparing) else { return [] }
        return [.report(.failed(code), DialogNote(reason))] + finish()
    }

    /// Takes a provisional response to our INVITE.
    package mutating func provisional(_ response: DialogResponse) -> [DialogAction] {
        switch state {
        case .outbound(.calling(var calling)):
            calling.isProceeding = true
            let rings = !calling.isRinging && (response.status == 180 || response.status == 183)
            calling.isRinging = calling.isRinging || rings
            state = .outbound(.calling(calling))
            return rings ? [.report(.ringing, DialogNote(nil, response))] : []
        case .outbound(.cancelling(let cancelling)) where !cancelling.isSent:
            state = .outbound(.cancelling(DialogState.Cancelling(isSent: true)))
            return [.outbound(.sendCancel), .schedule(.cancelled, after: durations.transaction)]
        case .fresh, .outbound(.claiming), .outbound(.preparing), .outbound(.cancelling), .outbound(.confirming),
            .inbound, .up, .leaving, .over:
            return []  // Late, or from another telephone that the INVITE was forked to.
        }
    }

    /// Takes the final response to our INVITE. From calling to confirming, calling (again), over; from cancelling to
    /// leaving, over.
    package mutating func final(_ response: DialogResponse) -> [DialogAction] {
        switch state {
        case .outbound(.calling(let calling)):
            if (200..<300).contains(response.status) {
                peerTag = response.tag
                state = .outbound(.confirming(response))
                return [.cancel(.ring), .acknowledge(tag: response.tag), .takeDescription]
            }
            if let next = nextAttempt(calling, response) {
                state = .outbound(.calling(next))
                return [.outbound(.sendInvite(policy.request(nil, minimum: next.minimum)))]
            }
            let (act, note) = DialogVerdict.act(for: response)
            return [.cancel(.ring), .report(act, note)] + finish()
        case .outbound(.cancelling):
            guard (200..<300).contains(response.status) else { return [.cancel(.cancelled)] + finish() }
            // The telephone answered before the CANCEL reached it: the call is ended at once, without involving the
            // user.
            peerTag = response.tag
            return [.cancel(.cancelled), .acknowledge(tag: response.tag)] + leave()
        case .fresh, .outbound(.claiming), .outbound(.preparing), .outbound(.confirming), .inbound, .up, .leaving,
            .over:
            guard (200..<300).contains(response.status) else { return [] }
            return answeredAgain(tag: response.tag)
        }
    }

    /// Called when our INVITE got no response. To over.
    package mutating func inviteFailed(_ failure: DialogFailure) -> [DialogAction] {
        switch state {
        case .outbound(.calling):
            let (act, note) = DialogVerdict.act(for: failure)
            return [.cancel(.ring), .report(act, note)] + finish()
        case .outbound(.cancelling):
            return [.cancel(.cancelled)] + finish()
        case .fresh, .outbound(.claiming), .outbound(.preparing), .outbound(.confirming), .inbound, .up, .leaving,
            .over:
            return []  // No INVITE of ours waits for a response.
        }
    }

    /// Takes a further 2xx to our INVITE: a copy, or one of another telephone.
    package mutating func answeredAgain(tag: String) -> [DialogAction] {
        switch state {
        case .outbound(.confirming), .up, .leaving, .over, .outbound(.calling), .outbound(.cancelling):
            if tag == peerTag { return [.acknowledge(tag: tag)] }
            let isCopy = forks.contains(tag)
            if forks.count < Self.forkBound { forks.insert(tag) }
            return [.acknowledge(tag: tag)] + (isCopy ? [] : [.outbound(.endFork(tag: tag))])
        case .fresh, .outbound(.claiming), .outbound(.preparing), .inbound:
            return []  // We have not sent an INVITE.
        }
    }

    /// Called when the telephone has rung for too long. From calling to cancelling.
    mutating func ringLimitReached() -> [DialogAction] {
        switch state {
        case .outbound(.calling):
            return [.report(.failed(.inviteTimeout), DialogNote(.timeout))] + reportRefused()
        case .fresh, .outbound(.claiming), .outbound(.preparing), .outbound(.cancelling), .outbound(.confirming),
            .inbound, .up, .leaving, .over:
            return []  // The answer came first.
        }
    }

    /// Called when nothing arrived after a CANCEL. From cancelling to over; a late 2xx is still acknowledged and its
    /// dialog ended.
    mutating func cancellationUnanswered() -> [DialogAction] {
        switch state {
        case .outbound(.cancelling):
            return finish()
        case .fresh, .outbound(.claiming), .outbound(.preparing), .outbound(.calling), .outbound(.confirming), .inbound,
            .up, .leaving, .over:
            return []
        }
    }

    /// The data for another INVITE after a refused one, if it can succeed; else nil.
    private func nextAttempt(_ before: DialogState.Calling, _ response: DialogResponse) -> DialogState.Calling? {
        var next = before
        next.isProceeding = false
        switch response.status {
        case 401, 407:
            return response.isAnswerable ? next : nil
        case 422:
            guard let minimum = policy.minimumAfterRefusal(response.session, before: before.minimum) else { return nil }
            next.minimum = minimum
            return next
        default:
            return nil
        }
    }
}
