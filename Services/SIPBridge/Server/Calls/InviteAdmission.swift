internal import Logging
internal import Metrics
internal import PostgresStore
internal import SIPBridgeLogic
internal import SignalingProtocol

/// Decides by which trunk an INVITE comes and which number it calls; keeps strangers out.
@SIPThread
final class InviteAdmission {
    /// What an INVITE's sender turned out to be.
    enum Sender {
        /// It belongs to these trunks.
        case trunks([SIPTrunk])
        /// It belongs to none, and gets this answer.
        case refused(status: Int, headers: [SIPHeaderField])
        /// It belongs to none, and gets no answer.
        case ignored
    }

    /// The trunks as they were read last.
    var table = TrunkTable()
    private var strangers = StrangerLimit()
    private var digest: DigestServer
    private let numbers: CachedRecords<String, SIPNumber>
    private let logger: Logger

    /// - Parameters:
    ///   - realm: whose users digest authentication means.
    ///   - numbers: whose number is called.
    init(realm: String, numbers: CachedRecords<String, SIPNumber>, logger: Logger) {
        digest = DigestServer(realm: realm, secret: SecureRandom.hex(bytes: 16))
        self.numbers = numbers
        self.logger = logger
    }

    /// Whether an address was refused so often that nothing it sends is looked at for a while.
    func isSilenced(_ host: String) -> Bool {
        guard strangers.isSilent(host, now: Int64(SIPLoop.now)) else { return false }
        PhoneMetrics.count(.silenced)
        return true
    }

    /// Whether a request of an unknown address is answered at all; it counts as one that was refused.
    func isAnswered(_ message: SIPMessage) -> Bool {
        !table.trunks(at: message.source.host).isEmpty || refuse(message) == .refuse
    }

    /// Finds out who sent an INVITE: a trunk by its address, somebody else by digest.
    func sender(of message: SIPMessage) -> Sender {
        let trunks = table.trunks(at: message.source.host)
        if !trunks.isEmpty { return .trunks(trunks) }
        let candidates = table.withDigest
        guard !candidates.isEmpty else { return refusal(of: message) }
        let now = SIPLoop.now
        var trunk: SIPTrunk?
        let verdict = digest.check(message, now: now) { user in
            trunk = candidates.first { $0.authUser == user }
            return trunk?.secret
        }
        switch verdict {
        case .accepted:
            strangers.admitted(message.source.host)
            return trunk.map { .trunks([$0]) } ?? .ignored
        case .refused:
            return refusal(of: message)
        case .missing, .stale:
            guard refuse(message) == .refuse else { return .ignored }
            PhoneMetrics.count(.challenged)
            return .refused(
                status: 401,
                headers: digest.challenges(now: now, salt: SecureRandom.hex(bytes: 8), isStale: verdict == .stale))
        }
    }

    private func refusal(of message: SIPMessage) -> Sender {
        refuse(message) == .refuse ? .refused(status: 403, headers: []) : .ignored
    }

    /// Counts a request that is refused, and tells whether its sender is told so.
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
                "ignoring an address for a while: too many of its requests were refused",
                metadata: ["source": "\(message.source.host)", "bound": "\(strangers.refusals)"])
        }
        return verdict
    }

    /// The number that is called, and which of the trunks belongs to its app; nil when it is nobody's.
    func find(
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
}
