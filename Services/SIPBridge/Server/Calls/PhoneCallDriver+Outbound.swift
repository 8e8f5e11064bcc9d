internal import Glibc
internal import Logging
internal import PostgresStore
internal import SIPBridgeLogic
internal import SignalingProtocol

/// Calls to a telephone.
extension PhoneCallDriver {
    /// Called when the trunk was found and the caller's options were read: creates the dialog and the offer.
    func prepare(_ outbound: OutboundCall) {
        guard !isOver else { return }  // The user has given up meanwhile.
        do {
            if outbound.trunk.transport == .tls { try resources.stack.trust(outbound.trunk.host) }
            let dialog = try resources.stack.makeDialog(
                target: outbound.target, to: outbound.target, from: outbound.from)
            let media = try makeMedia(outbound.trunk)
            self.media = media
            self.dialog = dialog
            self.outbound = outbound
            offer = SIPBody(type: "application/sdp", bytes: try media.makeOffer())
            trunk = outbound.trunk
            digest = outbound.credentials.map { DigestClient(credentials: $0) }
            noteCallID(dialog.callID, isTraced: outbound.isTraced)
            step { $0.prepared(ring: outbound.ring) }
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

    func makeMedia(_ trunk: SIPTrunk) throws(MediaError) -> MediaSession {
        let security: MediaSecurity =
            switch trunk.srtp {
            case .off: .off
            case .optional: .optional
            case .required: .required
            }
        return try MediaSession(
            configuration: resources.media, clock: resources.clock, security: security,
            offersEvents: trunk.dtmf != .info)
    }

    func sendInvite(_ headers: SessionHeaders) {
        guard let dialog, let outbound, let offer else { return }
        let fields =
            [SIPCapabilities.allow, SIPCapabilities.supported] + headers.lines + outbound.headers
            + authorization("INVITE")
        do {
            invite = try dialog.request("INVITE", headers: fields, body: offer) { [self] in inviteEvent($0) }
        } catch {
            logger.warning("could not send INVITE", metadata: ["error": "\(error)"])
            step { $0.inviteFailed(.unreachable) }
        }
    }

    private func inviteEvent(_ event: SIPResponseEvent) {
        switch event {
        case .provisional(let message):
            if message.hasDescription { early = message }
            step(about: message) { $0.provisional(DialogResponse(message)) }
        case .final(let message):
            invite = nil
            let isAnswerable = isChallenge(message)
            step(about: message) { $0.final(DialogResponse(message, isAnswerable: isAnswerable)) }
        case .failed(let code):
            invite = nil
            logger.notice("INVITE failed", metadata: ["error": "\(String(cString: strerror(code)))"])
            step { $0.inviteFailed(DialogFailure(errno: code)) }
        }
    }

    /// Handles a further 2xx to our INVITE: a copy, or one of another telephone.
    func answeredAgain(_ message: SIPMessage) {
        step(about: message) { $0.answeredAgain(tag: message.to.tag ?? "") }
    }

    func acknowledge(_ tag: String) {
        guard let dialog, let response = responseAtHand else { return }
        do {
            let target: SIPDialog
            if let fork = forks[tag] {
                target = fork
            } else if direction == .outbound, mainTag != nil, mainTag != tag {
                target = try dialog.fork(for: response)
                forks[tag] = target
            } else {
                if direction == .outbound { try dialog.establish(with: response) }
                mainTag = tag
                target = dialog
            }
            try target.acknowledge(response, headers: authorization("ACK"))
        } catch {
            logger.warning("could not acknowledge a 2xx", metadata: ["error": "\(error)"])
        }
    }

    func endFork(_ tag: String) {
        guard let fork = forks[tag] ?? dialog else { return }
        logger.info("another telephone answered too; ending its dialog", metadata: ["tag": "\(tag)"])
        do {
            try fork.request("BYE", headers: authorization("BYE")) { _ in }
        } catch {
            logger.warning("could not end the dialog of another telephone", metadata: ["error": "\(error)"])
        }
    }
}

extension DialogFailure {
    init(errno code: Int32) { self = code == ETIMEDOUT ? .timedOut : .unreachable }
}

extension DialogResponse {
    init(_ message: SIPMessage, isAnswerable: Bool = false) {
        self.init(
            status: message.status ?? 0, phrase: message.reason, tag: message.to.tag ?? "",
            session: SessionTimerFields(message), isAnswerable: isAnswerable)
    }
}

extension SessionTimerFields {
    init(_ message: SIPMessage) {
        func joined(_ name: String) -> String? {
            let values = message.headers(name)
            return values.isEmpty ? nil : values.joined(separator: ",")
        }
        let supported = (joined("Supported") ?? "") + "," + (joined("Require") ?? "")
        self.init(
            sessionExpires: message.header("Session-Expires"), minimum: message.header("Min-SE"),
            supported: supported, allow: joined("Allow"))
    }
}

extension SIPMessage {
    /// Whether the body is a session description.
    var hasDescription: Bool { !body.isEmpty && contentType == "application/sdp" }
}
