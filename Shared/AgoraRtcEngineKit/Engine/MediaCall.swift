internal import MediaClient

/// A call, as the engine sees it: a `MediaHandle`, or a script of the tests. Nothing waits, nothing calls back on the
/// caller's stack.
package protocol MediaCall: Sendable {
    func start()
    func leave()
    func renew(key: String)
    func muteLocalAudio(_ isMuted: Bool)
    func muteRemoteAudio(_ isMuted: Bool, uid: UInt32)
    func muteAllRemoteAudio(_ isMuted: Bool)
    func reportVolumes(everyMilliseconds interval: Int, smooth: Int)
    func setGain(capture: Double?, playback: Double?)
}

extension MediaHandle: MediaCall {}
