internal import PostgresStore
internal import RedisStore
internal import SignalingProtocol
internal import SignalingWire

/// Changes of sessions, in the stream that is copied into PostgreSQL.
enum PresenceMirror {
    static func entry(_ row: PresenceMirrorRow) -> RedisCommand {
        var fields = FieldWriter()
        fields.put("app", row.user.app.rawValue)
        fields.put("account", row.user.account.rawValue)
        fields.put("version", row.version)
        fields.put("present", row.present)
        fields.put("uid", row.uid)
        fields.put("session", row.session.rawValue)
        fields.put("gateway", row.gateway.rawValue)
        fields.put("device", row.device)
        fields.put("detached", row.detached)
        fields.put("since", row.since)
        return MirrorStream.recording(fields, for: .presence)
    }

    static func row(_ reader: FieldReader) throws(SignalingError) -> PresenceMirrorRow {
        let user = UserKey(app: try AppID(reader.string("app")), account: try Account(reader.string("account")))
        let actor = Actor(
            user: user, uid: try reader.uint32("uid"), session: SessionID(try reader.string("session")))
        var row = PresenceMirrorRow(
            of: actor, version: try reader.int64("version"), gateway: GatewayID(try reader.string("gateway")),
            device: try reader.string("device"), since: try reader.int64("since"))
        row.present = try reader.bool("present")
        row.detached = try reader.bool("detached")
        return row
    }
}
