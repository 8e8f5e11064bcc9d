internal import BusProtocol
internal import GatewayAPILogic
internal import Pacing
internal import ServiceKit
internal import SignalingProtocol
internal import SignalingTokens

/// The keys and apps that requests name, as presence knows them, cached for ``freshness``.
///
/// A revoked key ends at the latest ``freshness``, plus the second for which presence caches it, after it was revoked;
/// plus 5 s where a presence process has lost PostgreSQL. When presence does not answer, an older entry is not used: a
/// request then fails rather than use a key that may be revoked.
actor APIDirectory {
    /// How long an answer of presence is used.
    static let freshness = Duration.seconds(5)
    /// The largest number of keys or apps that are cached; of those in use there are fewer.
    static let bound = 4096
    /// Lookups of unknown keys or apps per second. More than this are probably guesses, and are answered without asking
    /// presence. Ids that were found before are always looked up, so that guesses keep no valid key out.
    private static let questionsPerSecond = 200
    /// Lookups of unknown keys or apps that one address may cause per second.
    private static let questionsPerSecondOfAddress = 20

    private let keys: PresenceAnswers<String, APIKey>
    private let apps: PresenceAnswers<AppID, AppSettings>
    private var rates: [String: RequestRate] = [:]
    private var questions = TokenBucket(
        perSecond: APIDirectory.questionsPerSecond, burst: APIDirectory.questionsPerSecond)
    private var questionsOfAddresses: [String: TokenBucket] = [:]
    private let start = ContinuousClock.now

    init(shards: APIShards) {
        keys = PresenceAnswers(missing: .unknownKey) { id async throws(SignalingError) in
            try await shards.next().ask(GetAPIKey(id: id))
        }
        apps = PresenceAnswers(missing: .unknownApp) { app async throws(SignalingError) in
            try await shards.next().ask(GetApp(app: app))
        }
    }

    /// Finds a request's key and takes the request from its rate.
    /// - Parameter address: under what the client's address is counted; nil when it is not.
    /// - Throws: ``APIProblem`` with ``APIErrorCode/unauthenticated``, or that the key cannot be checked.
    func admit(_ text: String?, from address: String?) async throws(APIProblem) -> Admission {
        guard let given = text.flatMap({ APIKeyText($0) }) else { throw Self.unauthenticated }
        let known = try await key(given.id, for: address)
        guard given.matches(known), let key = known, key.expiry ?? .max > WallClock.seconds else {
            throw Self.unauthenticated
        }
        return withRate(of: key) { rate in
            let isAllowed = rate.take(now: now)
            return Admission(key: key, isAllowed: isAllowed, rate: rate.state(now: now))
        }
    }

    static let unauthenticated = APIProblem(.unauthenticated, "the request has no valid key")

    /// A request whose key is valid.
    struct Admission: Sendable {
        let key: APIKey
        /// Whether the key's rate allows it.
        let isAllowed: Bool
        let rate: RequestRate.State
    }

    /// Whether a key that was valid still is.
    /// - Throws: ``APIProblem`` when that cannot be checked.
    func isValid(_ key: APIKey) async throws(APIProblem) -> Bool {
        guard let known = try await self.key(key.id, for: nil) else { return false }
        return known.digest == key.digest && known.expiry ?? .max > WallClock.seconds
    }

    /// Takes a batch from the key's rate.
    /// - Throws: ``APIProblem`` with ``APIErrorCode/rateLimited`` while an earlier batch has taken more than the key
    ///   had.
    func takeBatch(_ cost: Int, of key: APIKey) throws(APIProblem) -> RequestRate.State {
        let (isAllowed, state) = withRate(of: key) { rate in
            let isAllowed = rate.takeBatch(cost, now: now)
            return (isAllowed, rate.state(now: now))
        }
        guard isAllowed else { throw Self.overRate(state) }
        return state
    }

    /// The problem of a request that must wait.
    static func overRate(_ state: RequestRate.State) -> APIProblem {
        var problem = APIProblem(
            .rateLimited, "the key has had its requests of this second", bound: "\(state.limit) requests a second")
        problem.retryAfter = max(1, state.reset)
        return problem
    }

    /// Counts what an act has cost beyond 1.
    func charge(_ cost: Int, to key: APIKey) -> RequestRate.State {
        withRate(of: key) { rate in
            rate.charge(cost - 1)
            return rate.state(now: now)
        }
    }

    /// An app's settings; nil when there is no such app.
    func settings(of app: AppID) async throws(APIProblem) -> AppSettings? {
        try await apps.find(app) { () throws(APIProblem) in try takeQuestion(for: nil) }
    }

    private func key(_ id: String, for address: String?) async throws(APIProblem) -> APIKey? {
        try await keys.find(id) { () throws(APIProblem) in try takeQuestion(for: address) }
    }

    /// An address takes from its own share first, so that one that invents ids keeps others' keys out of a gateway that
    /// has just started for a moment only.
    private func takeQuestion(for address: String?) throws(APIProblem) {
        guard mayAsk(address), questions.take(now: now) else {
            var problem = APIProblem(.rateLimited, "too many unknown keys and apps are looked up; try again")
            problem.retryAfter = 1
            throw problem
        }
    }

    private func mayAsk(_ address: String?) -> Bool {
        guard let address else { return true }
        if questionsOfAddresses.count >= Self.bound {
            // An address that has its whole share again need not be known.
            questionsOfAddresses = questionsOfAddresses.filter { entry in
                var bucket = entry.value
                return !bucket.isFull(now: now)
            }
            guard questionsOfAddresses.count < Self.bound else { return false }
        }
        return questionsOfAddresses[
            address,
            default: TokenBucket(
                perSecond: Self.questionsPerSecondOfAddress, burst: Self.questionsPerSecondOfAddress)
        ].take(now: now)
    }

    private var now: LocalTime { LocalTime(nanoseconds: 0) + LocalTime.Span(start.duration(to: .now)) }

    private func withRate<Answer>(of key: APIKey, _ act: (inout RequestRate) -> Answer) -> Answer {
        if rates[key.id] == nil, rates.count >= Self.bound { rates = rates.filter { keys.knows($0.key) } }
        var rate = rates[key.id] ?? RequestRate(limit: key.requestsPerSecond)
        rate.setLimit(key.requestsPerSecond)
        defer { rates[key.id] = rate }
        return act(&rate)
    }
}
