/// What was published to a channel's topic, or kept in its log.
package enum ChannelPublication: Equatable, Sendable {
    /// An event.
    case event(ChannelEvent)
    /// An event of a kind that only a newer release knows. It counts as seen and is not shown.
    case unknown(at: ChannelPosition)
}
