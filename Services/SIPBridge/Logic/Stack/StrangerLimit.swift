/// Stops answering addresses whose requests were refused too often: scanners.
///
/// Times are ms of a clock that never goes back.
package struct StrangerLimit: Sendable {
    /// How a request that is refused is treated.
    package enum Verdict: Equatable, Sendable {
        /// It gets a response that refuses it.
        case refuse
        /// It gets no response.
        case silence
        /// It gets no response, and is the first not to: worth a log line.
        case silenceBegins
    }

    /// Refusals in a window before the silence; default 10.
    package var refusals = 10
    /// How long refusals count; default 1 min.
    package var window: Int64 = 60_000
    /// How long the silence lasts; default 1 min.
    package var silence: Int64 = 60_000
    /// Sources remembered at most; default 10,000. Past that, the oldest half is forgotten.
    package var bound = 10_000

    private struct Source {
        var since: Int64
        var count: Int
        var silentUntil: Int64?
    }

    private var sources: [String: Source] = [:]

    /// Makes a limit without any source.
    package init() {}

    /// How many sources are remembered.
    package var count: Int { sources.count }

    /// Whether everything from a source is dropped for now.
    package func isSilent(_ source: String, now: Int64) -> Bool {
        sources[source]?.silentUntil.map { now < $0 } ?? false
    }

    /// A request from a source is to be refused.
    package mutating func refused(_ source: String, now: Int64) -> Verdict {
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

    /// A source authenticated itself: its refusals are forgotten.
    package mutating func admitted(_ source: String) { sources[source] = nil }

    /// Drops those whose time is over, or else the older half, so that it is not done for each new source again.
    private mutating func forget(_ now: Int64) {
        sources = sources.filter { $0.value.silentUntil.map { now < $0 } ?? (now - $0.value.since < window) }
        guard sources.count >= bound else { return }
        let middle = sources.values.map(\.since).sorted()[sources.count / 2]
        sources = sources.filter { $0.value.since > middle }
        if sources.count >= bound { sources.removeAll() }
    }
}
