internal import GatewayLogic
internal import RedisStore
internal import ServiceMetrics
internal import SignalingProtocol
internal import SignalingWire

/// A cache of apps' settings: fresh for a few seconds, and used beyond that while presence does not reply.
///
/// Ids that no app has are cached separately, so that invented ids displace no app. The number of unknown ids about
/// which presence is asked per second is bounded.
final class AppDirectory {
    /// The largest number of cached apps.
    static let bound = 4096
    /// How long to wait for the settings of an unknown app.
    private static let patience = Duration.seconds(8)

    private struct Entry {
        var settings: AppSettings
        var askedAt: LocalTime
    }

    private let sender: CommandSender
    private let unknownBound: Int
    private let freshness: LocalTime.Span
    private let renewal: Duration
    private var entries: [AppID: Entry] = [:]
    private var unknown: [AppID: LocalTime] = [:]
    private var waiting: [AppID: [(Result<AppSettings, SignalingError>) -> Void]] = [:]
    /// Limits the requests about ids that were never known.
    private var questions = TokenBucket(perSecond: Limits.appQuestionsPerSecond, burst: Limits.appQuestionsBurst)

    /// - Parameters:
    ///   - unknownBound: the largest number of cached ids that no app has.
    ///   - freshness: how long settings are used without a new request.
    ///   - renewal: how long to wait for newer settings before the cached ones are used.
    init(
        sender: CommandSender, unknownBound: Int = 4096, freshness: Duration = .seconds(5),
        renewal: Duration = .seconds(2)
    ) {
        self.sender = sender
        self.unknownBound = unknownBound
        self.freshness = LocalTime.Span(freshness)
        self.renewal = renewal
    }

    /// Passes an app's settings to the callback; at once when they are fresh.
    func find(_ app: AppID, _ callback: @escaping (Result<AppSettings, SignalingError>) -> Void) {
        let now = LocalTime.now
        if let entry = entries[app] {
            if now - entry.askedAt < freshness { return callback(.success(entry.settings)) }
        } else if let askedAt = unknown[app], now - askedAt < freshness {
            return callback(.failure(Self.unknownApp))
        } else if waiting[app] == nil {
            guard questions.take(now: now) else {
                GatewayMetrics.shared.appQuestionsRefused.increment()
                return callback(
                    .failure(
                        SignalingError(
                            .loginOther, .overloaded,
                            "more than \(Limits.appQuestionsPerSecond) apps a second are looked up; try again")))
            }
        }
        waiting[app, default: []].append(callback)
        guard waiting[app]?.count == 1 else { return }
        let time = entries[app] == nil ? Self.patience : renewal
        sender.send(GetApp(app: app), within: time) { self.answered(app, $0) }
    }

    private static let unknownApp = SignalingError(.loginRejected, .unknownApp, "there is no app with that id")

    private func answered(_ app: AppID, _ answer: Result<AppSettings, SignalingError>) {
        var answer = answer
        switch answer {
        case .success(let settings):
            if entries.count >= Self.bound, entries[app] == nil { forgetOldest() }
            entries[app] = Entry(settings: settings, askedAt: .now)
            unknown[app] = nil
        case .failure(let error) where error.reason == .unknownApp:
            entries[app] = nil
            if unknown.count >= unknownBound { unknown = unknown.filter { LocalTime.now - $0.value < freshness } }
            // Beyond the bound an id is not cached; presence is asked about it again, within the rate.
            if unknown.count < unknownBound { unknown[app] = .now }
        case .failure:
            if let known = entries[app] { answer = .success(known.settings) }
        }
        for callback in waiting.removeValue(forKey: app) ?? [] { callback(answer) }
    }

    /// Removes the oldest quarter at once, so that this is rarely necessary.
    private func forgetOldest() {
        let oldest = entries.sorted { $0.value.askedAt < $1.value.askedAt }.prefix(Self.bound / 4)
        for (app, _) in oldest { entries[app] = nil }
    }
}
