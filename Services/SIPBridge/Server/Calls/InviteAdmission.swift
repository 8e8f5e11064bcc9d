internal import Logging
internal import Pacing
internal import PostgresStore
internal import SIPBridgeLogic
internal import ServiceMetrics
internal import SignalingProtocol

/// Determines the trunk and the called number of an INVITE, and refuses INVITEs from strangers.
@SIPThread
final class InviteAdmission {
    /// The sender of an INVITE.
    enum Sender {
        /// It is one of these trunks.
        case trunks([SIPTrunk])
        /// It is not a trunk, and gets this response.
        case refused(status: Int, headers: [SIPHeaderField])
        /// It is not a trunk, and gets no response.
        case ignored
    }

    /// The latest trunk table.
    var table = TrunkTable()
    private var strangers = StrangerLimit()
    private var digest: DigestServer
    private let numbers: CachedRecords<String, SIPNumber>
    private let logger: Logger

    /// - Parameters:
    ///   - realm: the realm of digest authentication.
    ///   - numbers: the users to whom numbers belong.
    init(realm: String, numbers: CachedRecords<String, SIPNumber>, logger: Logger) {
        digest = DigestServer(realm: realm, secret: SecureRandom.hex(bytes: 16))
        self.numbers = numbers
        self.logger = logger
    }

    /// Whether everything from this address is ignored at present, because it was refused too often.
    func isSilenced(_ host: String) -> Bool {
        guard strangers.isSilent(host, now: SIPLoop.now) else { return false }
        PhoneMetrics.shared.count(.silenced)
        return true
    }

    /// Whether a request from an unknown address gets a response; it counts as refused.
    func isAnswered(_ message: SIPMessage) -> Bool {
        !table.trunks(at: message.source.host).isEmpty || refuse(message) == .refuse
    }

    /// Identifies the sender of an INVITE: a trunk by its address, others by digest authentication.
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
            PhoneMetrics.shared.count(.challenged)
            return .refused(
                status: 401,
                headers: digest.challenges(now: now, salt: SecureRandom.hex(bytes: 8), isStale: verdict == .stale))
        }
    }

    private func refusal(of message: SIPMessage) -> Sender {
        refuse(message) == .refuse ? .refused(status: 403, headers: []) : .ignored
    }

    /// Counts a refused request, and returns how to treat it.
    private func refuse(_ message: SIPMessage) -> StrangerLimit.Verdict {
        let verdict = strangers.refused(message.source.host, now: SIPLoop.now)
        switch verdict {
        case .refuse:
            PhoneMetrics.shared.count(.refused)
        case .silence:
            PhoneMetrics.shared.count(.silenced)
        case .silenceBegins:
            PhoneMetrics.shared.count(.silenced)
            logger.warning(
                "ignoring an address for a while: too many of its requests were refused",
                metadata: ["source": "\(message.source.host)", "bound": "\(strangers.refusals)"])
        }
        return verdict
    }

    /// The called number, and the trunk of the app to which it belongs; nil when it belongs to nobody.
    func find(
        _ message: SIPMessage, _ trunks: [SIPTrunk]
    ) async throws(PostgresError) -> (number: SIPNumber, trunk: SIPTrunk)? {
        let user = message.requestURI?.user ?? ""
        // A registrar puts our Contact into the request line; the called number is then in To.
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
