internal import Metrics

/// What channel-state counts; commands, timers and queries are counted where they are run.
enum ChannelMetrics {
    static let joins = Counter(label: "heliograph_channel_joins_total")
    static let leaves = Counter(label: "heliograph_channel_leaves_total")
    static let attributeChanges = Counter(label: "heliograph_channel_attribute_changes_total")
    static let numbersTold = Counter(label: "heliograph_channel_numbers_told_total")
    static let expired = Counter(label: "heliograph_channels_expired_total")
}
