internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import RedisClient
internal import SignalingProtocol

/// Changes of sessions, in the stream that is copied into PostgreSQL.
struct PresenceMirror: Sendable {
    /// Whether changes are recorded; default true.
    var isOn = true
    /// Decides to which stream a user's changes go.
    var bus = BusLayout.single

    /// The command that records a change; none when mirrors are off.
    func entries(_ row: PresenceMirrorRow) -> [RedisCommand] {
        isOn ? [MirrorStream.recording(row, for: .presence, in: bus.partition(of: .user(row.user)))] : []
    }
}
