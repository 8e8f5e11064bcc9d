internal import ClusterState
internal import RedisStore
internal import SignalingProtocol
internal import SignalingWire

/// Changes of memberships, in the stream that is copied into PostgreSQL.
struct MemberMirror: Sendable {
    /// Whether changes are recorded; default true.
    var isOn = true
    /// Decides to which stream a channel's changes go.
    var bus = BusLayout.single

    /// The command that records a change; none when mirrors are off.
    /// - Parameter change: the number of the change, by Redis' clock (us).
    func entries(
        _ channel: ChannelKey, _ account: Account, uid: UInt32, present: Bool, change: Int64
    ) -> [RedisCommand] {
        guard isOn else { return [] }
        let row = MemberMirrorRow(
            of: Member(account: account, uid: uid), in: channel, version: change, present: present,
            joinedAt: RedisTime(microseconds: change))
        return [MirrorStream.recording(row, for: .channelState, in: bus.partition(of: .channel(channel)))]
    }
}
