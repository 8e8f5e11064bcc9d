internal import BusProtocol
internal import Glibc
internal import Logging
internal import PostgresStore
internal import SIPBridgeLogic
internal import SignalingProtocol

/// A call to a telephone.
@SIPThread
final class OutboundLeg: PhoneCallDriver {
    /// The caller's JSON text.
    let extra: String
    /// What our INVITE contains; nil while the trunk is being looked up.
    private var invitation: (content: OutboundCall, offer: SIPBody)?
    /// Our INVITE, while it is in progress.
    private var invite: SIPClientRequest?
    /// The latest provisional response with a session description.
    private var early: SIPMessage?
    /// The tag of the telephone that has answered first.
    private var mainTag: String?
    /// The dialogs of the other telephones that have answered, by their tags.
    private var forks: [String: SIPDialog] = [:]

    init(_ command: DialPhone, resources: CallResources, owner: any PhoneCallOwner) {
        extra = command.extra
        super.init(command.call, .outbound, resources: resources, owner: owner)
    }

    // MARK: - Preparation

    /// Called when the trunk was found and the caller's options were read: creates the dialog and the offer.
    func prepare(_ content: OutboundCall) {
        guard !isOver else { return }  // The user has given up meanwhile.
        do {
            if content.trunk.transport == .tls { try resources.stack.trust(content.trunk.host) }
            let dialog = try resources.stack.makeDialog(target: content.target, to: content.target, from: content.from)
            let media = try resources.makeMedia(for: content.trunk)
            self.media = media
            invitation = (content, .description(try media.makeOffer()))
            noteCallID(dialog.callID, isTraced: content.isTraced)
            self.dialog = CallDialog(dialog, trunk: content.trunk, logger: logger)
            step { $0.prepared(ring: content.ring) }
        } catch {
            logger.error("could not set up an outbound call", metadata: ["error": "\(error)"])
            step { $0.unprepared(.inviteNetwork, .overloaded) }
        }
    }

    /// Called when the call cannot be made.
    func unprepared(_ code: SignalingCode, _ reason: DialogReason, _ why: String) {
        logger.notice("not making an outbound call", metadata: ["reason": "\(reason.rawValue)", "why": "\(why)"])
        step { $0.unprepared(code, reason) }
    }

    // MARK: - Actions

    override func perform(_ action: OutboundAction) {
        switch action {
        case .prepare: owner.prepareLater(self)
        case .sendInvite(let headers): sendInvite(headers)
        case .sendCancel: invite?.cancel()
        case .endFork(let tag): endFork(tag)
        }
    }

    private func sendInvite(_ headers: SessionHeaders) {
        guard let dialog, let invitation else { return excluded("an INVITE that was not prepared") }
        let fields =
            SIPCapabilities.session(headers) + invitation.content.headers + dialog.authorization("INVITE")
        do {
            invite = try dialog.sip.request("INVITE", headers: fields, body: invitation.offer) { [self] event in
                inviteEvent(event, dialog)
            }
        } catch {
            logger.warning("could not send INVITE", metadata: ["error": "\(error)"])
            step { $0.inviteFailed(.unreachable) }
        }
    }

    private func inviteEvent(_ event: SIPResponseEvent, _ dialog: CallDialog) {
        switch event {
        case .provisional(let message):
            if message.hasDescription { early = message }
            step(about: .response(message)) { $0.provisional(DialogResponse(message)) }
        case .final(let message):
            invite = nil
            let isAnswerable = dialog.isChallenge(message)
            step(about: .response(message)) { $0.final(DialogResponse(message, isAnswerable: isAnswerable)) }
        case .failed(let code):
            invite = nil
            logger.notice("INVITE failed", metadata: ["error": "\(String(cString: strerror(code)))"])
            step { $0.inviteFailed(DialogFailure(errno: code)) }
        }
    }

    /// The first 2xx establishes the call's dialog; those of other telephones that the INVITE was forked to have
    /// dialogs of their own.
    override func dialog(of response: SIPMessage, tag: String, own: SIPDialog) throws(SIPError) -> SIPDialog {
        if let fork = forks[tag] { return fork }
        if mainTag != nil, mainTag != tag {
            let fork = try own.fork(for: response)
            forks[tag] = fork
            return fork
        }
        try own.establish(with: response)
        mainTag = tag
        return own
    }

    private func endFork(_ tag: String) {
        guard let dialog else { return excluded("a BYE without a dialog") }
        // An answer that makes no dialog, as it has no Contact, can be neither acknowledged nor ended. A BYE in the
        // call's own dialog would end the call.
        guard let fork = forks[tag] ?? (tag == mainTag ? dialog.sip : nil) else { return }
        logger.info("another telephone answered too; ending its dialog", metadata: ["tag": "\(tag)"])
        do {
            try fork.request("BYE", headers: dialog.authorization("BYE")) { _ in }
        } catch {
            logger.warning("could not end the dialog of another telephone", metadata: ["error": "\(error)"])
        }
    }

    /// Some peers send the answer only in a 183.
    override var earlyDescription: SIPMessage? { isUp ? nil : early }
}
