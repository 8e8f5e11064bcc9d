package import BusProtocol
package import SignalingProtocol

/// The life of one call's SIP dialog, in either direction: what is sent to the telephone and reported to the invitation
/// service.
///
/// Each method handles one event. The machine decides which message is sent when, and what the peer's messages mean for
/// the call; addresses, session descriptions and header fields are left to the driver. Sources: RFC 3261, RFC 3311
/// (UPDATE), RFC 4028 (session timers), RFC 5407.
package struct DialogStateMachine: Equatable, Sendable {
    /// The number of remembered telephones that also answered the INVITE. For telephones beyond it, every 2xx is
    /// acknowledged and its dialog ended.
    static let forkBound = 16

    var state = DialogState.fresh
    let durations: DialogDurations
    let policy: SessionPolicy
    /// The tag of the telephone that takes part in the call.
    var peerTag: String?
    /// The tags of other telephones that also answered and were sent a BYE.
    var forks: Set<String> = []

    /// Creates a dialog that has not begun.
    package init(durations: DialogDurations = DialogDurations(), policy: SessionPolicy = SessionPolicy()) {
        self.durations = durations
        self.policy = policy
    }

    /// Whether the call was answered and has not ended.
    package var isUp: Bool {
        switch state {
        case .up: true
        case .fresh, .outbound, .inbound, .leaving, .over:
            false
        }
    }

    /// Whether the call has ended; repeated messages may still arrive.
    package var isOver: Bool { state == .over }

    // MARK: - The user's side

    /// Handles an order of the invitation service: an act of the user or the system.
    /// - Parameter code: the code of the failure, for ``BusProtocol/PhoneOrderAct/fail``.
    package mutating func ordered(_ act: PhoneOrderAct, code: SignalingCode? = nil) -> [DialogAction] {
        switch act {
        case .ringing: userRings()
        case .accept: userAccepts()
        case .refuse: terminate(reply: .busy)
        case .end: terminate(reply: .unavailable)
        case .fail: terminate(reply: DialogVerdict.reply(for: code))
        case .message: []  // Digits are played by the driver.
        }
    }

    /// Called when the invitation service does not have the call any more, or does not reply.
    package mutating func reportRefused() -> [DialogAction] { terminate(reply: .unavailable) }

    /// Called when the bridge must give the call up, for this reason.
    package mutating func abandoned(_ reason: DialogReason) -> [DialogAction] {
        let note = DialogNote(reason)
        switch state {
        case .fresh, .outbound(.cancelling), .leaving, .over:
            return []
        case .outbound(.claiming), .outbound(.preparing), .outbound(.calling), .outbound(.confirming):
            return [.report(.failed(.inviteNetwork), note)] + terminate(reply: .serviceUnavailable)
        case .inbound(.answering(let answering)) where answering.wantsEnd:
            return []
        case .inbound, .up:
            return [.report(.ended(.inviteNetwork), note)] + terminate(reply: .serviceUnavailable)
        }
    }

    /// Ends the dialog, whatever its state, without a report.
    private mutating func terminate(reply: DialogReply) -> [DialogAction] {
        switch state {
        case .fresh, .outbound(.claiming), .outbound(.preparing):
            return finish()
        case .outbound(.calling(let calling)):
            state = .outbound(.cancelling(DialogState.Cancelling(isSent: calling.isProceeding)))
            return [.cancel(.ring)]
                + (calling.isProceeding
                    ? [.outbound(.sendCancel), .schedule(.cancelled, after: durations.transaction)] : [])
        case .outbound(.confirming), .up:
            return leave()
        case .inbound(.inviting), .inbound(.alerting):
            return [.inbound(.respond(reply))] + finish()
        case .inbound(.answering(var answering)):
            answering.wantsEnd = true
            state = .inbound(.answering(answering))
            return []
        case .outbound(.cancelling), .leaving, .over:
            return []  // The call is ending already.
        }
    }

    // MARK: - Media

    /// Called when no media have arrived for too long.
    package mutating func mediaTimedOut() -> [DialogAction] {
        switch state {
        case .up:
            return [.report(.ended(.inviteNetwork), DialogNote(.mediaTimeout))] + leave()
        case .fresh, .outbound, .inbound, .leaving, .over:
            return []  // The call has ended meanwhile.
        }
    }

    /// Takes the outcome of ``DialogAction/takeDescription``: whether the description could be applied.
    package mutating func descriptionTaken(_ isUsable: Bool) -> [DialogAction] {
        switch state {
        case .outbound(.confirming(let response)):
            guard isUsable else {
                return [.report(.failed(.inviteOther), DialogNote(.unusableMedia, response))] + leave()
            }
            let timer = policy.agreed(response.session)
            state = .up(
                DialogState.Established(
                    isCaller: true, timer: timer, allowsUpdate: response.session.allowsUpdate ?? false))
            return [.startMedia, .report(.accepted, DialogNote(nil, response))] + run(timer)
        case .up(var established):
            let isFirst = established.applying == .first
            established.applying = nil
            state = .up(established)
            guard !isUsable else { return isFirst ? [.startMedia] : [] }
            return [.report(.ended(.inviteOther), DialogNote(.unusableMedia))] + leave()
        case .fresh, .outbound(.claiming), .outbound(.preparing), .outbound(.calling), .outbound(.cancelling), .inbound,
            .leaving, .over:
            return []  // The call has ended meanwhile.
        }
    }

    // MARK: - The end

    /// Called when our BYE was answered, or will not be.
    package mutating func byeAnswered() -> [DialogAction] { state == .leaving ? finish() : [] }

    /// Handles the peer's BYE.
    package mutating func peerEnded() -> [DialogAction] {
        let hangup = DialogAction.report(.ended(.success), DialogNote(.hangup))
        switch state {
        case .up, .outbound(.confirming):
            return [.respond(.ok), hangup] + finish()
        case .inbound(.answering(let answering)):
            return [.respond(.ok)] + (answering.wantsEnd ? [] : [hangup]) + finish()
        case .inbound(.inviting), .inbound(.alerting):
            // A caller may send BYE in an early dialog (RFC 3261, 15).
            return [.respond(.ok), .inbound(.respond(.terminated)), hangup] + finish()
        case .leaving:
            return [.respond(.ok)] + finish()  // Both sides hung up.
        case .fresh, .outbound(.claiming), .outbound(.preparing), .outbound(.calling), .outbound(.cancelling), .over:
            return [.respond(.unknownDialog)]
        }
    }

    /// Sends BYE. To leaving.
    mutating func leave() -> [DialogAction] {
        state = .leaving
        return [.cancel(.refresh), .cancel(.expiry), .cancel(.glare), .cancel(.retransmission)]
            + [.cancel(.acknowledgement), .sendBye]
    }

    /// Ends the dialog. To over.
    mutating func finish() -> [DialogAction] {
        state = .over
        return [.close, .schedule(.linger, after: durations.transaction)]
    }

    /// Called when a timer fires.
    package mutating func timerFired(_ timer: DialogTimer) -> [DialogAction] {
        switch timer {
        case .ring: ringLimitReached()
        case .cancelled: cancellationUnanswered()
        case .retransmission: retransmissionDue()
        case .acknowledgement: acknowledgementMissing()
        case .refresh, .glare: refreshDue()
        case .expiry: sessionExpired()
        case .linger: state == .over ? [.forget] : []
        }
    }
}
