package import ServiceMetrics

/// Counts events that their readers skip.
package struct EventMetrics: Sendable {
    /// The metrics of this process.
    package static let shared = EventMetrics()

    /// Published events, and entries of channels' logs.
    package let unknown = Counter(
        "heliograph_events_unknown_total", "Events skipped because only a newer release knows their kind.")
    /// Entries of channels' logs.
    package let unreadable = Counter(
        "heliograph_channel_events_unreadable_total",
        "Events of channels' logs skipped because they could not be decoded.")
}
