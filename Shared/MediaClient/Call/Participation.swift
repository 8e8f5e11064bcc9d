internal import MediaEngineLogic
internal import SignalingProtocol

/// The client as a participant: under which id, where, and what was told of it.
struct Participation {
    var subject: ControlCall.Subject
    var uid: UInt32
    var node: MediaNodeID
    /// The flags that the others were told last.
    var told: MediaFlags
}
