internal import BusProtocol
package import SignalingProtocol

/// Calls from a telephone.
extension DialogStateMachine {
    /// Handles a telephone's INVITE for one of our numbers. From fresh to inviting; or to over when its session
    /// interval is too small.
    /// - Parameter hasOffer: whether the INVITE contains a description that we can answer.
    package mutating func invited(_ session: SessionTimerFields, hasOffer: Bool) -> [DialogAction] {
        guard state == .fresh else { return [] }
        switch policy.answer(session) {
        case .tooSmall(let minimum):
            return [.inbound(.respond(.intervalTooSmall(minimum: minimum)))] + finish()
        case .agreed(let timer, let headers):
            state = .inbound(
                .inviting(
                    DialogState.IncomingInvite(
                        hasOffer: hasOffer, headers: headers, timer: timer, allowsUpdate: session.allowsUpdate ?? false)
                ))
            return [.inbound(.respond(.trying)), .inbound(.inviteUser)]
        }
    }

    /// Takes the invitation service's reply. From inviting to alerting, or over.
    /// - Parameter code: the code of the error when the user was not invited.
    package mutating func invitationAnswered(continues: Bool, code: SignalingCode? = nil) -> [DialogAction] {
        switch state {
        case .inbound(.inviting(let incoming)):
            guard continues else { return [.inbound(.respond(DialogVerdict.reply(for: code)))] + finish() }
            state = .inbound(.alerting(incoming))
            return []
        case .fresh, .outbound, .inbound(.alerting), .inbound(.answering), .up, .leaving, .over:
            return []  // An order, or the caller's CANCEL, came before the reply.
        }
    }

    /// Handles the caller's CANCEL. From inviting or alerting to over.
    package mutating func callerCancelled() -> [DialogAction] {
        switch state {
        case .inbound(.inviting), .inbound(.alerting):
            return [.inbound(.respond(.terminated)), .report(.ended(.success), DialogNote(.hangup))] + finish()
        case .fresh, .outbound, .inbound(.answering), .up, .leaving, .over:
            return []  // Our final response was sent before and remains valid.
        }
    }

    /// Handles the ACK of our 2xx. From answering to up, or leaving.
    package mutating func acknowledged() -> [DialogAction] {
        let stop: [DialogAction] = [.cancel(.retransmission), .cancel(.acknowledgement)]
        switch state {
        case .inbound(.answering(let answering)):
            if answering.wantsEnd { return leave() }
            state = .up(
                DialogState.Established(
                    isCaller: false, timer: answering.invite.timer, allowsUpdate: answering.invite.allowsUpdate,
                    applying: answering.invite.hasOffer ? nil : .first))
            return stop + [answering.invite.hasOffer ? .startMedia : .takeDescription] + run(answering.invite.timer)
        case .up(var established):
            switch established.response {
            case .unacknowledged(_, let wantsDescription):
                established.response = nil
                established.applying = wantsDescription ? .later : nil
                state = .up(established)
                return stop + (wantsDescription ? [.takeDescription] : [])
            case .deciding, nil:
                return []  // A repeated ACK.
            }
        case .fresh, .outbound, .inbound(.inviting), .inbound(.alerting), .leaving, .over:
            return []
        }
    }

    /// Called when the user's client has received the invitation.
    mutating func userRings() -> [DialogAction] {
        switch state {
        case .inbound(.inviting(let incoming)):
            // The order has overtaken the reply to the invitation.
            state = .inbound(.alerting(incoming))
            return [.inbound(.respond(.ringing))]
        case .inbound(.alerting):
            return [.inbound(.respond(.ringing))]
        case .fresh, .outbound, .inbound(.answering), .up, .leaving, .over:
            return []
        }
    }

    /// Called when the user accepts. From inviting or alerting to answering.
    mutating func userAccepts() -> [DialogAction] {
        switch state {
        case .inbound(.inviting(let incoming)), .inbound(.alerting(let incoming)):
            state = .inbound(.answering(DialogState.Answering(invite: incoming, pause: durations.t1)))
            return [
                .inbound(.accept(incoming.headers)), .schedule(.retransmission, after: durations.t1),
                .schedule(.acknowledgement, after: durations.transaction),
            ]
        case .fresh, .outbound, .inbound(.answering), .up, .leaving, .over:
            return []
        }
    }

    /// Called when the answer for ``InboundAction/accept(_:)`` cannot be made. From answering to over.
    package mutating func acceptanceFailed() -> [DialogAction] {
        switch state {
        case .inbound(.answering):
            return [
                .inbound(.respond(.notAcceptable)), .report(.ended(.inviteOther), DialogNote(.unusableMedia)),
            ] + finish()
        case .fresh, .outbound, .inbound(.inviting), .inbound(.alerting), .up, .leaving, .over:
            return []
        }
    }

    /// Called when our 2xx is due to be repeated.
    mutating func retransmissionDue() -> [DialogAction] {
        switch state {
        case .inbound(.answering(var answering)):
            answering.pause = min(answering.pause * 2, durations.t2)
            state = .inbound(.answering(answering))
            return [.resendAnswer, .schedule(.retransmission, after: answering.pause)]
        case .up(var established):
            switch established.response {
            case .unacknowledged(let pause, let wantsDescription):
                let next = min(pause * 2, durations.t2)
                established.response = .unacknowledged(pause: next, wantsDescription: wantsDescription)
                state = .up(established)
                return [.resendAnswer, .schedule(.retransmission, after: next)]
            case .deciding, nil:
                return []
            }
        case .fresh, .outbound, .inbound(.inviting), .inbound(.alerting), .leaving, .over:
            return []
        }
    }

    /// Called when our 2xx was not acknowledged in time. To leaving.
    mutating func acknowledgementMissing() -> [DialogAction] {
        let report = DialogAction.report(.ended(.inviteNetwork), DialogNote(.unacknowledged))
        switch state {
        case .inbound(.answering(let answering)):
            return (answering.wantsEnd ? [] : [report]) + leave()
        case .up(let established):
            switch established.response {
            case .unacknowledged: return [report] + leave()
            case .deciding, nil: return []
            }
        case .fresh, .outbound, .inbound(.inviting), .inbound(.alerting), .leaving, .over:
            return []
        }
    }
}
