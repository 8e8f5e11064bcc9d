/// What one other user says, by itself: before it is mixed with what the others say.
///
/// A track may be asked for at any time, also before its user comes. It does not keep the call alive.
///
/// ```swift
/// import MediaClient
///
/// func record(_ uid: UInt32, of channel: MediaChannel) async -> [Int16] {
///     var recording: [Int16] = []
///     for await frame in channel.track(uid: uid).frames() {
///         recording += frame.samples
///     }
///     return recording
/// }
/// ```
public struct RemoteTrack: Sendable, Identifiable {
    /// The user.
    public let uid: UInt32
    private let handle: MediaHandle

    init(uid: UInt32, handle: MediaHandle) {
        self.uid = uid
        self.handle = handle
    }

    /// The user, of whom a channel has one.
    public var id: UInt32 { uid }

    /// Does not play the user, or plays it again, as ``MediaChannel/muteRemoteAudio(_:uid:)``; its frames keep coming.
    public func mute(_ isMuted: Bool) { handle.muteRemoteAudio(isMuted, uid: uid) }

    /// The factor of the user's share in what is played, 0...4, 1 for unchanged: kept until the call ends, also when
    /// the user leaves and comes back. The frames are not changed by it.
    public func setGain(_ gain: Double) { handle.setGain(gain, uid: uid) }

    /// What is heard of the user from now on, in frames of 20 ms, in the order in which they are played; ends with the
    /// call.
    ///
    /// While the user is silent, or not among the loudest whom the media node sends, there are no frames. Up to 50
    /// wait, which are a second; then the oldest is left out. Of a call up to 100 such sequences run at a time; a
    /// further one ends at once.
    public func frames() -> AsyncStream<RemoteFrame> {
        AsyncStream(bufferingPolicy: .bufferingNewest(TrackListeners.frameBound)) { [uid, handle] continuation in
            let listener = TrackListener(uid: uid, continuation)
            continuation.onTermination = { _ in handle.forget(listener) }
            handle.add(listener)
        }
    }
}

/// 20 ms of what a user says.
public struct RemoteFrame: Sendable, Hashable {
    /// When the frame is played, in samples since the call began to play. Where two frames are further apart than their
    /// samples, the user was not heard, or frames were left out.
    public var position: Int64
    /// 960 samples: 48 kHz, mono.
    public var samples: [Int16]
}
