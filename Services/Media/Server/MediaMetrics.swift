internal import ServiceMetrics
internal import SignalingProtocol

/// What a media node counts, besides commands and queries.
struct MediaMetrics: Sendable {
    /// Those of this process.
    static let shared = MediaMetrics()

    let joins = Counter("heliograph_media_joins_total", "Joins that were answered with a path.")
    let refused = CounterSet<MediaRefusal>(
        "heliograph_media_joins_refused_total", "Joins that were refused, by reason.", label: "reason")
    let pathsFailed = Counter(
        "heliograph_media_paths_failed_total", "Joins that were refused because the loop did not open their path.")
    let events = Counter(
        "heliograph_media_events_total", "Publications of events in media channels, one for each gateway concerned.")
    let eventsLost = Counter(
        "heliograph_media_events_lost_total",
        "Publications that Redis did not take, or beyond the 20,000 that may wait; clients see the gap.")

    func count(_ answer: RecentJoins.Answer) {
        switch answer {
        case .success: joins.increment()
        case .failure(let refusal): refused.increment(refusal)
        }
    }
}
