package import SignalingProtocol

/// The life of one call's SIP dialog, in either direction, and what to tell the telephone and the invitation service.
///
/// Each method is one event. The machine decides which message is sent when and what the peer's messages mean for the
/// call; addresses, session descriptions and header fields are the driver's concern. Sources: RFC 3261, RFC 3311
/// (UPDATE), RFC 4028 (session timers), RFC 5407.
package struct DialogStateMachine: Equatable, Sendable {
    /// Other telephones that answered the same INVITE: how many are remembered. Each 2xx of further ones is
    /// acknowledged and ended.
    static let forkBound = 16

    var state = DialogState.fresh
    let durations: DialogDurations
    let policy: SessionPolicy
    /// The tag of the telephone that the call is with.
    var peerTag: String?
    /// The tags of other telephones that answered too and were sent a BYE.
    var forks: Set<String> = []

    /// A dialog that has not begun.
    package init(durations: DialogDurations = DialogDurations(), policy: SessionPolicy = SessionPolicy()) {
        self.durations = durations
        self.policy = policy
    }

    /// Whether the call was answered and is not over.
    package var isUp: Bool {
        switch state {
        case .up: true
        case .fresh, .claiming, .preparing, .calling, .cancelling, .confirming, .inviting, .alerting, .answering,
            .leaving, .over:
            false
        }
    }

    /// Whether the call is over; repeated messages may still arrive.
    package var isOver: Bool { state == .over }

    // MARK: - The user's side

    /// The invitation service tells what the user, or the system, did.
    /// - Parameter code: the failure's code, of ``SignalingProtocol/PhoneOrderAct/fail``.
    package mutating func ordered(_ act: PhoneOrderAct, code: SignalingCode? = nil) -> [DialogAction] {
        switch act {
        case .ringing: userRings()
        case .accept: userAccepts()
        case .refuse: letGo(reply: .busy)
        case .end: letGo(reply: .unavailable)
        case .fail: letGo(reply: DialogVerdict.reply(for: code))
        case .message: []  // The driver plays digits.
        }
    }

    /// The invitation service no longer has the call, or cannot be reached.
    package mutating func reportRefused() -> [DialogAction] { letGo(reply: .unavailable) }

    /// The bridge has to give the call up, for this reason.
    package mutating func abandoned(_ reason: DialogReason) -> [DialogAction] {
        let note = DialogNote(reason)
        switch state {
        case .fresh, .cancelling, .leaving, .over:
            return []
        case .claiming, .preparing, .calling, .confirming:
            return [.report(.failed(.inviteNetwork), note)] + letGo(reply: .serviceUnavailable)
        case .answering(let it) where it.wantsEnd:
            return []
        case .inviting, .alerting, .answering, .up:
            return [.report(.ended(.inviteNetwork), note)] + letGo(reply: .serviceUnavailable)
        }
    }

    /// Ends the dialog in whatever state it is, without a report.
    private mutating func letGo(reply: DialogReply) -> [DialogAction] {
        switch state {
        case .fresh, .claiming, .preparing:
            return finish()
        case .calling(let it):
            state = .cancelling(DialogState.Cancelling(isSent: it.isProceeding))
            return [.cancel(.ring)]
                + (it.isProceeding ? [.sendCancel, .schedule(.cancelled, after: durations.transaction)] : [])
        case .confirming, .up:
            return leave()
        case .inviting, .alerting:
            return [.respondInvite(reply)] + finish()
        case .answering(var it):
            it.wantsEnd = true
            state = .answering(it)
            return []
        case .cancelling, .leaving, .over:
            return []  // It crossed another end.
        }
    }

    // MARK: - Media

    /// No media came for too long.
    package mutating func mediaTimedOut() -> [DialogAction] {
        switch state {
        case .up:
            return [.report(.ended(.inviteNetwork), DialogNote(.mediaTimeout))] + leave()
        case .fresh, .claiming, .preparing, .calling, .cancelling, .confirming, .inviting, .alerting, .answering,
            .leaving, .over:
            return []  // It crossed the end.
        }
    }

    /// ``DialogAction/takeDescription`` was performed: whether the description could be applied.
    package mutating func descriptionTaken(_ isUsable: Bool) -> [DialogAction] {
        switch state {
        case .confirming(let response):
            guard isUsable else {
                return [.report(.failed(.inviteOther), DialogNote(.unusableMedia, response))] + leave()
            }
            let timer = policy.agreed(response.session)
            state = .up(
                DialogState.Standing(
                    isCaller: true, timer: timer, allowsUpdate: response.session.allowsUpdate ?? false))
            return [.startMedia, .report(.accepted, DialogNote(nil, response))] + run(timer)
        case .up(var it):
            let isFirst = it.taking == .first
            it.taking = nil
            state = .up(it)
            guard !isUsable else { return isFirst ? [.startMedia] : [] }
            return [.report(.ended(.inviteOther), DialogNote(.unusableMedia))] + leave()
        case .fresh, .claiming, .preparing, .calling, .cancelling, .inviting, .alerting, .answering, .leaving, .over:
            return []  // It crossed the end.
        }
    }

    // MARK: - The end

    /// Our BYE was answered, or never will be.
    package mutating func byeAnswered() -> [DialogAction] { state == .leaving ? finish() : [] }

    /// The peer's BYE.
    package mutating func peerEnded() -> [DialogAction] {
        let hangup = DialogAction.report(.ended(.success), DialogNote(.hangup))
        switch state {
        case .up, .confirming:
            return [.respond(.ok), hangup] + finish()
        case .answering(let it):
            return [.respond(.ok)] + (it.wantsEnd ? [] : [hangup]) + finish()
        case .inviting, .alerting:
            // A caller may send BYE in an early dialog (RFC 3261, 15).
            return [.respond(.ok), .respondInvite(.terminated), hangup] + finish()
        case .leaving:
            return [.respond(.ok)] + finish()  // Both hung up.
        case .fresh, .claiming, .preparing, .calling, .cancelling, .over:
            return [.respond(.unknownDialog)]
        }
    }

    /// Sends BYE. To leaving.
    mutating func leave() -> [DialogAction] {
        state = .leaving
        return [.cancel(.refresh), .cancel(.expiry), .cancel(.glare), .cancel(.retransmission)]
            + [.cancel(.acknowledgement), .sendBye]
    }

    /// To over.
    mutating func finish() -> [DialogAction] {
        state = .over
        return [.close, .schedule(.linger, after: durations.transaction)]
    }

    /// A timer fired.
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
