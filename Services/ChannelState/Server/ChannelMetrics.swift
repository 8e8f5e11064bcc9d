internal import Metrics
internal import SignalingProtocol

/// The metrics of channel-state; commands, timers and queries are counted by the code that runs them.
enum ChannelMetrics {
    static let joins = Counter(label: "heliograph_channel_joins_total")
    static let leaves = Counter(label: "heliograph_channel_leaves_total")
    static let attributeChanges = Counter(label: "heliograph_channel_attribute_changes_total")
    /// Changes refused because the channel would exceed the bounds of its attributes.
    static let attributesRefused = Counter(label: "heliograph_channel_attributes_refused_total")
    /// Changes refused because the channel's attributes were changed too often.
    static let attributesLimited = Counter(label: "heliograph_channel_attribute_changes_limited_total")
    /// Reloads of caches that were newer than PostgreSQL, which had lost commits.
    static let reloaded = Counter(label: "heliograph_channel_attributes_reloaded_total")
    static let numbersTold = Counter(label: "heliograph_channel_numbers_told_total")
    /// Ended channels whose rows were deleted from PostgreSQL.
    static let forgotten = Counter(label: "heliograph_channels_forgotten_total")
    /// Channels that Redis had lost before their time to live was over.
    static let adopted = Counter(label: "heliograph_channels_adopted_total")
    static let expired = Counter(label: "heliograph_channels_expired_total")
    /// Members removed because only PostgreSQL's copy had them, or because they had no session.
    static let membersForgotten = Counter(label: "heliograph_channel_members_forgotten_total")

    /// Counts an attribute change that was refused.
    static func refused(_ error: SignalingError) {
        switch error.reason {
        case .rateLimited: attributesLimited.increment()
        case .tooManyAttributes: attributesRefused.increment()
        default: break
        }
    }
}
