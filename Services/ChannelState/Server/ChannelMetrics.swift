internal import ServiceMetrics
internal import SignalingProtocol

/// What channel-state counts, besides commands, timers and queries.
struct ChannelMetrics: Sendable {
    /// The metrics of this process.
    static let shared = ChannelMetrics()

    let joins = Counter("heliograph_channel_joins_total", "Users who joined a channel.")
    let leaves = Counter("heliograph_channel_leaves_total", "Users who left a channel.")
    let restrictions = Counter(
        "heliograph_channel_restrictions_total", "Users whom their app has banned from a channel, or muted there.")
    let attributeChanges = Counter("heliograph_channel_attribute_changes_total", "Changes of channels' attributes.")
    let attributesRefused = Counter(
        "heliograph_channel_attributes_refused_total",
        "Attribute changes refused because the channel would have had too many or too large attributes.")
    let attributesLimited = Counter(
        "heliograph_channel_attribute_changes_limited_total",
        "Attribute changes refused because the channel's attributes were changed too often.")
    let reloaded = Counter(
        "heliograph_channel_attributes_reloaded_total",
        "Caches of channels' attributes loaded again because PostgreSQL had lost changes that they contained.")
    let numbersTold = Counter(
        "heliograph_channel_numbers_told_total", "Announcements of _member_num and _total_member_num.")
    let forgotten = Counter(
        "heliograph_channels_forgotten_total", "Ended channels whose rows were deleted from PostgreSQL.")
    let adopted = Counter(
        "heliograph_channels_adopted_total", "Channels that Redis had lost before their time to live was over.")
    let expired = Counter("heliograph_channels_expired_total", "Channels that ended because nobody used them.")
    let membersForgotten = Counter(
        "heliograph_channel_members_forgotten_total",
        "Members removed because only PostgreSQL's copy had them, or because they had no session.")

    /// Counts an attribute change that was refused.
    func refused(_ error: SignalingError) {
        switch error.reason {
        case .rateLimited: attributesLimited.increment()
        case .tooManyAttributes: attributesRefused.increment()
        default: break
        }
    }
}
