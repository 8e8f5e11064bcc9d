internal import RedisStore
internal import SignalingProtocol
internal import SignalingWire

/// Changes of memberships, in the stream that is copied into PostgreSQL.
enum MemberMirror {
    /// - Parameter change: the number of the change, by Redis' clock (us).
    static func entry(
        _ channel: ChannelKey, _ account: Account, uid: UInt32, present: Bool, change: Int64
    ) -> RedisCommand {
        let row = MemberMirrorRow(
            of: Member(account: account, uid: uid), in: channel, version: change, present: present,
            joinedAt: RedisTime(microseconds: change))
        return MirrorStream.recording(row, for: .channelState)
    }
}
