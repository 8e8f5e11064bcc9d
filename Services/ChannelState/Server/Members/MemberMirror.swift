internal import PostgresStore
internal import RedisStore
internal import SignalingProtocol
internal import SignalingWire

/// Changes of memberships, in the stream that is copied into PostgreSQL.
enum MemberMirror {
    /// - Parameter change: the number of the change, by Redis' clock (us).
    static func entry(
        _ channel: ChannelKey, _ account: Account, uid: UInt32, present: Bool, change: Int64
    ) -> RedisCommand {
        var fields = FieldWriter()
        fields.put("app", channel.app.rawValue)
        fields.put("channel", channel.name.rawValue)
        fields.put("account", account.rawValue)
        fields.put("version", change)
        fields.put("present", present)
        fields.put("uid", uid)
        fields.put("joined", change / 1000)
        return MirrorStream.recording(fields, for: .channelState)
    }

    static func row(_ reader: FieldReader) throws(SignalingError) -> MemberMirrorRow {
        MemberMirrorRow(
            of: Member(account: try Account(reader.string("account")), uid: try reader.uint32("uid")),
            in: ChannelKey(app: try AppID(reader.string("app")), name: try ChannelName(reader.string("channel"))),
            version: try reader.int64("version"), present: try reader.bool("present"),
            joinedAt: try reader.int64("joined"))
    }
}
