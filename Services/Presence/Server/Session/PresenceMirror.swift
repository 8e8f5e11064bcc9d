internal import RedisStore
internal import SignalingProtocol
internal import SignalingWire

/// Changes of sessions, in the stream that is copied into PostgreSQL.
struct PresenceMirror: Sendable {
    /// Whether changes are recorded; default true.
    var isOn = true

    /// The command that records a change; none when mirrors are off.
    func entries(_ row: PresenceMirrorRow) -> [RedisCommand] {
        isOn ? [MirrorStream.recording(row, for: .presence)] : []
    }
}
