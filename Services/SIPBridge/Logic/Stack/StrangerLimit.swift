package import Pacing

/// Stops answering addresses whose requests were refused too often, such as scanners.
package struct StrangerLimit: Sendable {
    /// How to treat a request that is refused.
    package enum Verdict: Equatable, Sendable {
        /// Send the refusal.
        case refuse
        /// Send nothing.
        case silence
        /// Send nothing; this is the first such request and is worth a log line.
        case silenceBegins
    }

    /// The number of refusals within the window after which the silence begins; default 10.
    package var refusals = 10
    /// How long refusals count; default 1 min.
    package var window = Duration.seconds(60)
    /// How long the silence lasts; default 1 min.
    package var silence = Duration.seconds(60)
    /// The largest number of remembered addresses; default 10,000. Above it, the older half is forgotten.
    package var bound = 10_000

    private struct Source {
        var since: LocalTime
        var count: Int
        var silentUntil: LocalTime?
    }

    private var sources: [String: Source] = [:]

    /// Creates a limit without addresses.
    package init() {}

    /// The number of remembered addresses.
    package var count: Int { sources.count }

    /// Whether everything from this address is dropped at present.
    package func isSilent(_ source: String, now: LocalTime) -> Bool {
        sources[source]?.silentUntil.map { now < $0 } ?? false
    }

    /// Counts a refused request.
    package mutating func refused(_ source: String, now: LocalTime) -> Verdict {
        var known = sources[source] ?? Source(since: now, count: 0)
        if let until = known.silentUntil {
            if now < until { return .silence }
            known = Source(since: now, count: 0)
        } else if now - known.since >= window {
            known = Source(since: now, count: 0)
        }
        known.count += 1
        let isOver = known.count > refusals
        if isOver { known.silentUntil = now + silence }
        if sources[source] == nil, sources.count >= bound { forget(now) }
        sources[source] = known
        return isOver ? .silenceBegins : .refuse
    }

    /// Forgets an address's refusals, because it has authenticated itself.
    package mutating func admitted(_ source: String) { sources[source] = nil }

    /// Forgets addresses whose time has passed, or else the older half, so that this is not necessary for each new
    /// address.
    private mutating func forget(_ now: LocalTime) {
        sources = sources.filter { $0.value.silentUntil.map { now < $0 } ?? (now - $0.value.since < window) }
        guard sources.count >= bound else { return }
        let middle = sources.values.map(\.since).sorted()[sources.count / 2]
        sources = sources.filter { $0.value.since > middle }
        if sources.count >= bound { sources.removeAll() }
    }
}
