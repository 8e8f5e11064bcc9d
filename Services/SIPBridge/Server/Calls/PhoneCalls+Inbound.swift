internal import BusProtocol
internal import Logging
internal import PostgresStore
internal import SIPBridgeLogic
internal import ServiceMetrics
internal import SignalingProtocol

/// Messages that arrive by SIP.
extension PhoneCalls {
    /// Handles a request that the stack does not answer itself.
    func arrived(_ request: SIPServerRequest) {
        let message = request.message
        if message.to.tag != nil { return arrivedInDialog(request) }
        switch message.method {
        case "INVITE":
            invited(request)
        case "ACK":
            break  // It belongs to no call that we know.
        default:
            if admission.isAnswered(message) { reply(request, 481) }
        }
    }

    /// Handles a further 2xx to one of our INVITEs.
    func receivedFurther2xx(_ message: SIPMessage) {
        // When its call is unknown, it is ignored; the sender gives up after 32 s.
        calls.drivers(message.callID).first { $0.direction == .outbound || $0.owns(message) }?
            .answeredAgain(message)
    }

    private func arrivedInDialog(_ request: SIPServerRequest) {
        let message = request.message
        if let driver = calls.drivers(message.callID).first(where: { $0.owns(message) }) {
            return driver.received(request)
        }
        if message.method != "ACK" { reply(request, 481) }
    }

    // MARK: - The caller

    /// The most INVITEs of trunks whose numbers are looked up at the same time; further INVITEs are refused. An INVITE
    /// of a stranger is refused or ignored at once, so it never waits here.
    private static let pendingBound = 1000

    private func invited(_ request: SIPServerRequest) {
        let message = request.message
        guard !admission.isSilenced(message.source.host) else { return }
        let key = InviteKey(message)
        let isKnown = calls.drivers(message.callID).contains { driver in
            (driver as? InboundLeg).map { InviteKey($0.invite.message) == key } ?? false
        }
        guard !isKnown, pendingInvites[key] == nil else { return reply(request, 482) }
        switch admission.sender(of: message) {
        case .trunks(let trunks):
            guard hasRoom else { return reply(request, 503) }
            reply(request, 100)
            pendingInvites[key] = false
            request.onCancel = { [unowned self] in
                if pendingInvites[key] != nil { pendingInvites[key] = true }
            }
            admitLater(request, key, from: trunks)
        case .refused(let status, let headers): reply(request, status, headers)
        case .ignored: break
        }
    }

    /// Whether another call can be accepted.
    private var hasRoom: Bool {
        guard pendingInvites.count < Self.pendingBound else {
            PhoneMetrics.shared.pendingBoundHit.increment()
            logger.warning(
                "refusing an INVITE: too many wait for their number to be looked up",
                metadata: ["bound": "\(Self.pendingBound)"])
            return false
        }
        guard !isDraining, !isCutOff, !isFull else {
            if isFull { PhoneMetrics.shared.callBoundHit.increment() }
            return false
        }
        return true
    }

    // MARK: - The called user

    /// Starts the call of an INVITE, if its number belongs to a user.
    func admit(_ request: SIPServerRequest, from trunks: [SIPTrunk], _ key: InviteKey) async {
        let message = request.message
        let found: (number: SIPNumber, trunk: SIPTrunk)?
        do {
            found = try await admission.find(message, trunks)
        } catch {
            logger.warning(
                "could not look up the called number",
                metadata: ["sip_call_id": "\(message.callID)", "error": "\(error)"])
            return reply(request, pendingInvites[key] == true ? 487 : 503)
        }
        if pendingInvites[key] == true { return reply(request, 487) }
        guard let found else {
            logger.notice(
                "refusing a call: the called number is not assigned to an account",
                metadata: ["sip_call_id": "\(message.callID)", "source": "\(message.source.host)"])
            return reply(request, 404)
        }
        guard let resources, !isDraining else { return reply(request, 503) }
        guard let facts = describe(message, to: found.number, by: found.trunk) else { return reply(request, 500) }
        begin(request, facts, resources)
    }

    /// Begins the call of an INVITE, or refuses one that cannot become a call.
    private func begin(_ request: SIPServerRequest, _ facts: InboundCall, _ resources: CallResources) {
        let message = request.message
        if facts.trunk.trace { resources.startTrace(with: message) }
        do {
            let leg = try InboundLeg(request, facts, resources: resources, owner: self)
            add(leg)
            leg.begin()
            register(leg)
        } catch {
            logger.notice(
                "refusing a call: its INVITE cannot be answered",
                metadata: ["sip_call_id": "\(message.callID)", "status": "\(error.status)", "why": "\(error.why)"])
            reply(request, error.status, error.status == 415 ? [SIPCapabilities.accept] : [])
            PhoneMetrics.shared.count(.inbound, .failed)
            if facts.trunk.trace { resources.stack.traced.remove(message.callID) }
        }
    }

    /// The facts about an INVITE's call; nil when its names are not valid as channel and account.
    private func describe(
        _ message: SIPMessage, to number: SIPNumber, by trunk: SIPTrunk
    ) -> InboundCall? {
        let id = nextCallID()
        let name = PhoneCaller.name(user: message.from.user, host: message.from.host)
        guard let channel = try? ChannelName("sip-\(id)"),
            let phone = (try? Account(new: name)) ?? (try? Account(PhoneCaller.anonymous))
        else { return nil }
        let headers = IncomingHeaders(message.headers)
        if headers.omitted > 0 {
            logger.notice(
                "leaving out headers of an inbound call",
                metadata: ["sip_call_id": "\(message.callID)", "omitted": "\(headers.omitted)"])
        }
        let user = number.user
        let extra = CallExtraJSON.invitation(caller: name, called: number.number, headers: headers)
        let call = PhoneCall(
            id: id, channel: ChannelKey(app: user.app, name: channel), user: user.account, phone: phone)
        return InboundCall(call: call, extra: extra, trunk: trunk, ring: Self.ring(message, trunk))
    }

    /// How long a call may ring: as set for the trunk, or less if the caller waits less (RFC 3261, 13.2.1).
    private static func ring(_ message: SIPMessage, _ trunk: SIPTrunk) -> Duration {
        let limit = trunk.ringTime
        return message.header("Expires").flatMap { UInt32($0) }.map { min(limit, .seconds($0)) } ?? limit
    }

    private func reply(_ request: SIPServerRequest, _ status: Int, _ headers: [SIPHeaderField] = []) {
        do {
            try request.reply(status, headers: headers)
        } catch {
            PhoneMetrics.shared.count(.unsent)
            logger.warning("could not send a response", metadata: ["status": "\(status)", "error": "\(error)"])
        }
    }
}
