internal import BusProtocol
internal import ClusterBus
internal import GatewayLogic
internal import Pacing
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// A cache of apps' settings. No login waits for newer settings than the cache has, unless those are old and nobody
/// has asked for newer ones lately:
/// - younger than ``freshness``: they are used;
/// - younger than ``ageBound``: they are used, and newer ones are asked for meanwhile;
/// - older: newer ones are waited for. But when the last request has failed, the old ones are used at once for as long
///   as that lasts, and presence is asked at most once every ``retryPause``.
///
/// Ids that no app has are cached separately, so that invented ids displace no app. The number of unknown ids about
/// which presence is asked per second is bounded.
final class AppDirectory {
    /// The largest number of cached apps.
    static let bound = 4096
    /// How long to wait for the settings of an unknown app.
    private static let patience = Duration.seconds(8)
    /// How long after a failed request the next one is made.
    private static let retryPause = LocalTime.Span(.seconds(1))

    /// Told of settings that presence has given, whoever asked for them, before those who wait for them.
    var onRenewed: ((AppID, AppSettings) -> Void)?

    typealias Callback = (Result<AppSettings, SignalingError>) -> Void

    private struct Entry {
        var settings: AppSettings
        var askedAt: LocalTime
        /// When the last request failed; nil when it succeeded.
        var failedAt: LocalTime?
    }

    private let sender: CommandSender
    private let unknownBound: Int
    private let freshness: LocalTime.Span
    private let ageBound: LocalTime.Span
    private let renewal: Duration
    private var entries: [AppID: Entry] = [:]
    private var unknown: [AppID: LocalTime] = [:]
    /// Who waits for an answer, by app; empty for an app that nobody waits for, but about which presence is asked.
    private var waiting: [AppID: [Callback]] = [:]
    /// Limits the requests about ids that were never known.
    private var questions = TokenBucket(perSecond: Limits.appQuestionsPerSecond, burst: Limits.appQuestionsBurst)

    /// - Parameters:
    ///   - unknownBound: the largest number of cached ids that no app has.
    ///   - freshness: how long settings are used without a new request; default 5 s.
    ///   - ageBound: how old settings may be that are used while presence answers; default 10 s.
    ///   - renewal: how long to wait for an answer before the cached settings are used, or
    ///     presence is asked again; default 2 s.
    init(
        sender: CommandSender, unknownBound: Int = 4096, freshness: Duration = .seconds(5),
        ageBound: Duration = .seconds(10), renewal: Duration = .seconds(2)
    ) {
        self.sender = sender
        self.unknownBound = unknownBound
        self.freshness = LocalTime.Span(freshness)
        self.ageBound = LocalTime.Span(ageBound)
        self.renewal = renewal
    }

    /// Passes an app's settings to the callback; at once when they are cached and not too old.
    func find(_ app: AppID, _ callback: @escaping Callback) {
        let now = LocalTime.now
        guard let entry = entries[app] else { return findUnknown(app, now, callback) }
        let age = now - entry.askedAt
        if age < freshness { return callback(.success(entry.settings)) }
        if age < ageBound || entry.failedAt != nil {
            callback(.success(entry.settings))
            if let failedAt = entry.failedAt, now - failedAt < Self.retryPause { return }
            return ask(app, for: nil)
        }
        ask(app, for: callback)
    }

    /// Passes settings to the callback that presence gives now; the cached ones when it does not answer.
    func renew(_ app: AppID, _ callback: @escaping Callback) { ask(app, for: callback) }

    /// The same app, as the text that is cached with its settings, if they are.
    func shared(_ app: AppID) -> AppID { entries.index(forKey: app).map { entries.keys[$0] } ?? app }

    private func findUnknown(_ app: AppID, _ now: LocalTime, _ callback: @escaping Callback) {
        if let askedAt = unknown[app], now - askedAt < freshness { return callback(.failure(Self.unknownApp)) }
        guard waiting[app] != nil || questions.take(now: now) else {
            GatewayMetrics.shared.appQuestionsRefused.increment()
            return callback(
                .failure(
                    SignalingError(
                        .loginOther, .overloaded,
                        "more than \(Limits.appQuestionsPerSecond) apps a second are looked up; try again")))
        }
        ask(app, for: callback)
    }

    /// Asks presence, unless it is being asked.
    private func ask(_ app: AppID, for callback: Callback?) {
        let isAsked = waiting[app] != nil
        waiting[app, default: []] += callback.map { [$0] } ?? []
        if !isAsked { ask(app, until: .now + LocalTime.Span(Self.patience)) }
    }

    /// - Parameter end: until when presence is asked again if it does not answer and nothing is cached: another
    ///   partition of its commands may be reachable.
    private func ask(_ app: AppID, until end: LocalTime) {
        sender.send(GetApp(app: app), within: renewal) { [self] answer in
            if case .failure(let error) = answer, error.reason == .timeout, entries[app] == nil, LocalTime.now < end {
                return ask(app, until: end)
            }
            answered(app, answer)
        }
    }

    private static let unknownApp = SignalingError(.loginRejected, .unknownApp, "there is no app with that id")

    private func answered(_ app: AppID, _ answer: Result<AppSettings, SignalingError>) {
        var answer = answer
        switch answer {
        case .success(let settings):
            if entries.count >= Self.bound, entries[app] == nil { forgetOldest() }
            entries[app] = Entry(settings: settings, askedAt: .now, failedAt: nil)
            unknown[app] = nil
            onRenewed?(app, settings)
        case .failure(let error) where error.reason == .unknownApp:
            entries[app] = nil
            if unknown.count >= unknownBound { unknown = unknown.filter { LocalTime.now - $0.value < freshness } }
            // Beyond the bound an id is not cached; presence is asked about it again, within the rate.
            if unknown.count < unknownBound { unknown[app] = .now }
        case .failure:
            if let known = entries[app] {
                entries[app]?.failedAt = .now
                answer = .success(known.settings)
            }
        }
        for callback in waiting.removeValue(forKey: app) ?? [] { callback(answer) }
    }

    /// Removes the oldest quarter at once, so that this is rarely necessary.
    private func forgetOldest() {
        let oldest = entries.sorted { $0.value.askedAt < $1.value.askedAt }.prefix(Self.bound / 4)
        for (app, _) in oldest { entries[app] = nil }
    }
}
