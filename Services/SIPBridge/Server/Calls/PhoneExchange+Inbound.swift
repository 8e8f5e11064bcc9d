internal import Logging
internal import Metrics
internal import PostgresStore
internal import SIPBridgeLogic
internal import SignalingProtocol

/// What arrives by SIP.
extension PhoneExchange {
    /// A request that is none of those that the stack answers itself.
    func arrived(_ request: SIPServerRequest) {
        let message = request.message
        if message.to.tag != nil { return arrivedInDialog(request) }
        switch message.method {
        case "INVITE":
            invited(request)
        case "ACK":
            break  // Of nothing.
        default:
            if table.trunks(at: message.source.host).isEmpty, refuse(message) != .refuse { return }
            reply(request, 481)
        }
    }

    /// One more 2xx of an INVITE of ours.
    func strayed(_ message: SIPMessage) {
        // Of no call that is known: its sender gives up after 32 s.
        drivers(message.callID).first { $0.direction == .outbound || $0.dialog?.matches(message) == true }?
            .answeredAgain(message)
    }

    private func arrivedInDialog(_ request: SIPServerRequest) {
        let message = request.message
        if let driver = drivers(message.callID).first(where: { $0.dialog?.matches(message) == true }) {
            return driver.received(request)
        }
        if message.method != "ACK" { reply(request, 481) }
    }

    // MARK: - Who calls

    /// INVITEs of trunks whose numbers are being looked up, at most; further ones are refused. Strangers' never wait.
    private static let pendingBound = 1000

    private func invited(_ request: SIPServerRequest) {
        let message = request.message
        guard !strangers.isSilent(message.source.host, now: Int64(SIPLoop.now)) else {
            return PhoneMetrics.count(.silenced)
        }
        let key = InviteKey(message)
        let isKnown = drivers(message.callID).contains { driver in
            driver.inviteRequest.map { InviteKey($0.message) == key } ?? false
        }
        guard !isKnown, pendingInvites[key] == nil else { return reply(request, 482) }
        guard let trunks = senders(of: request) else { return }
        pendingInvites[key] = false
        request.onCancel = { [unowned self] in
            if pendingInvites[key] != nil { pendingInvites[key] = true }
        }
        admitLater(request, key, from: trunks)
    }

    /// The trunks that an INVITE can have come by, as they were at the last look; nil when it was refused.
    private func senders(of request: SIPServerRequest) -> [SIPTrunk]? {
        var trunks = table.trunks(at: request.message.source.host)
        if trunks.isEmpty {
            guard let trunk = identify(request) else { return nil }
            trunks = [trunk]
        }
        guard pendingInvites.count < Self.pendingBound else {
            PhoneMetrics.pendingBoundHit.increment()
            logger.warning("an INVITE is refused", metadata: ["bound": "\(Self.pendingBound)"])
            reply(request, 503)
            return nil
        }
        guard !isDraining, !isCutOff, !isFull else {
            if isFull { PhoneMetrics.callBoundHit.increment() }
            reply(request, 503)
            return nil
        }
        reply(request, 100)
        return trunks
    }

    /// The trunk that somebody at an unknown address belongs to, by digest; refuses others.
    private func identify(_ request: SIPServerRequest) -> SIPTrunk? {
        let message = request.message
        let candidates = table.withDigest
        guard !candidates.isEmpty else {
            if refuse(message) == .refuse { reply(request, 403) }
            return nil
        }
        let now = SIPLoop.now
        var trunk: SIPTrunk?
        let verdict = digest.check(message, now: now) { user in
            trunk = candidates.first { $0.authUser == user }
            return trunk?.secret
        }
        switch verdict {
        case .accepted:
            strangers.admitted(message.source.host)
            return trunk
        case .refused:
            if refuse(message) == .refuse { reply(request, 403) }
        case .missing, .stale:
            guard refuse(message) == .refuse else { return nil }
            PhoneMetrics.count(.challenged)
            reply(
                request, 401,
                digest.challenges(now: now, salt: SecureRandom.hex(bytes: 8), isStale: verdict == .stale))
        }
        return nil
    }

    /// Counts a request that is refused, and tells whether its sender hears so.
    private func refuse(_ message: SIPMessage) -> StrangerLimit.Verdict {
        let verdict = strangers.refused(message.source.host, now: Int64(SIPLoop.now))
        switch verdict {
        case .refuse:
            PhoneMetrics.count(.refused)
        case .silence:
            PhoneMetrics.count(.silenced)
        case .silenceBegins:
            PhoneMetrics.count(.silenced)
            logger.warning(
                "an address is answered no more for a while",
                metadata: ["source": "\(message.source.host)", "bound": "\(strangers.refusals)"])
        }
        return verdict
    }

    // MARK: - Whom

    func admit(_ request: SIPServerRequest, from trunks: [SIPTrunk], _ key: InviteKey) async {
        let message = request.message
        let found: (number: SIPNumber, trunk: SIPTrunk)?
        do {
            found = try await find(message, trunks)
        } catch {
            logger.warning(
                "a number cannot be looked up",
                metadata: ["sip_call_id": "\(message.callID)", "error": "\(error)"])
            return reply(request, pendingInvites[key] == true ? 487 : 503)
        }
        if pendingInvites[key] == true { return reply(request, 487) }
        guard let found else {
            logger.notice(
                "a call to a number that is nobody's",
                metadata: ["sip_call_id": "\(message.callID)", "source": "\(message.source.host)"])
            return reply(request, 404)
        }
        guard let line, !isDraining else { return reply(request, 503) }
        let id = nextCallID()
        let name = PhoneCaller.name(user: message.from.user, host: message.from.host)
        guard let channelName = try? ChannelName("sip-\(id)"),
            let phone = (try? Account(name)) ?? (try? Account(PhoneCaller.anonymous))
        else { return reply(request, 500) }
        let headers = IncomingHeaders(message.headers)
        if headers.omitted > 0 {
            logger.notice(
                "headers of an inbound call are left out",
                metadata: ["sip_call_id": "\(message.callID)", "omitted": "\(headers.omitted)"])
        }
        let user = found.number.user
        let inbound = InboundCall(
            user: user, phone: phone,
            extra: PhoneExtra.invitation(caller: name, called: found.number.number, headers: headers),
            trunk: found.trunk,
            ring: Self.ring(message, found.trunk))
        let call = PhoneCall(
            id: id, channel: ChannelKey(app: user.app, name: channelName), user: user.account, phone: phone)
        let driver = PhoneCallDriver(call, .inbound, line: line)
        add(driver)
        driver.begin(request, inbound)
        register(driver)
    }

    /// How long a call may ring, ms: as the trunk says, or less when the caller waits no longer (RFC 3261, 13.2.1).
    private static func ring(_ message: SIPMessage, _ trunk: SIPTrunk) -> Int64 {
        let limit = Int64(trunk.ringSeconds) * 1000
        return message.header("Expires").flatMap { UInt32($0) }.map { min(limit, Int64($0) * 1000) } ?? limit
    }

    /// The number that is called, and the trunk of its app that it was called by.
    private func find(
        _ message: SIPMessage, _ trunks: [SIPTrunk]
    ) async throws(PostgresError) -> (number: SIPNumber, trunk: SIPTrunk)? {
        let user = message.requestURI?.user ?? ""
        // A registrar puts our Contact into the request line; the number that was called is in To then.
        let isContact = trunks.contains {
            $0.register && $0.authUser.map { PhoneTarget(callee: $0)?.user == user } ?? false
        }
        for spelling in PhoneCaller.spellings(ofCalled: user)
            + (isContact ? PhoneCaller.spellings(ofCalled: message.to.user) : [])
        {
            guard let number = try await numbers.find(spelling) else { continue }
            guard let trunk = trunks.first(where: { $0.app == number.user.app }) else { continue }
            return (number, trunk)
        }
        return nil
    }

    private func reply(_ request: SIPServerRequest, _ status: Int, _ headers: [SIPHeaderField] = []) {
        do {
            try request.reply(status, headers: headers)
        } catch {
            PhoneMetrics.count(.unsent)
            logger.warning("a response cannot be sent", metadata: ["status": "\(status)", "error": "\(error)"])
        }
    }
}

extension PhoneExchange.InviteKey {
    init(_ message: SIPMessage) {
        self.init(callID: message.callID, tag: message.from.tag ?? "", sequence: message.sequence)
    }
}
