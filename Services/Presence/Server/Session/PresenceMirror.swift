internal import RedisStore
internal import SignalingProtocol
internal import SignalingWire

/// Changes of sessions, in the stream that is copied into PostgreSQL.
enum PresenceMirror {
    static func entry(_ row: PresenceMirrorRow) -> RedisCommand { MirrorStream.recording(row, for: .presence) }
}
