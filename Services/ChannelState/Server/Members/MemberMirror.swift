internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import RedisClient
internal import SignalingProtocol

/// Changes of memberships, in the stream that is copied into PostgreSQL.
struct MemberMirror: Sendable {
    /// Whether changes are recorded; default true.
    var isOn = true
    /// Whether all running processes know the ends of channels.
    var tellsEnds: @Sendable () -> Bool = { true }
    /// Decides to which stream a channel's changes go.
    var bus = BusLayout.single

    /// The command that records a change; none when mirrors are off.
    /// - Parameters:
    ///   - change: the number of the change, by Redis' clock (us).
    ///   - cause: that the account has joined or left; nil for a correction.
    func entries(
        _ member: Member, in channel: ChannelKey, present: Bool, change: Int64, cause: MirrorCause? = nil
    ) -> [RedisCommand] {
        guard isOn else { return [] }
        var row = MemberMirrorRow(
            of: member, in: channel, version: change, present: present,
            joinedAt: RedisTime(microseconds: change))
        row.cause = cause
        return [recording(.member(row), of: channel)]
    }

    /// The command that records a channel's end, for webhooks; none when mirrors are off, or when a process that would
    /// take it for a malformed change of a member may read it.
    func entries(end row: ChannelEndRow) -> [RedisCommand] {
        isOn && tellsEnds() ? [recording(.end(row), of: row.channel)] : []
    }

    private func recording(_ row: ChannelMirrorRow, of channel: ChannelKey) -> RedisCommand {
        MirrorStream.recording(row, for: .channelState, in: bus.partition(of: .channel(channel)))
    }
}
