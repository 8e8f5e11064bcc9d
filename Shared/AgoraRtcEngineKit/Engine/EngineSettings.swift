internal import MediaClient

/// What the app has set, before a call or in it: kept, and applied to each new call.
struct EngineSettings {
    /// The largest number of users of whom a mute is kept before a call.
    static let mutesBound = 1000

    var isMuted = false
    var isAllRemoteMuted = false
    private(set) var remoteMutes: [UInt32: Bool] = [:]
    var isAudioEnabled = true
    var volumeInterval = 0
    var volumeSmooth = 1
    var captureGain = 1.0
    var playbackGain = 1.0
    /// What `setEnableSpeakerphone` has said; nil before.
    var speaker: Bool?
    var defaultSpeaker = false

    var isSpeaker: Bool { speaker ?? defaultSpeaker }
    var sendsNothing: Bool { isMuted || !isAudioEnabled }
    /// Audio that is disabled is received and not played, as a call has no other way.
    var effectivePlaybackGain: Double { isAudioEnabled ? playbackGain : 0 }

    /// Keeps one user's mute.
    /// - Returns: false when too many are kept.
    mutating func muteRemote(_ isMuted: Bool, uid: UInt32) -> Bool {
        guard remoteMutes[uid] != nil || remoteMutes.count < Self.mutesBound else { return false }
        remoteMutes[uid] = isMuted
        return true
    }

    /// Mutes all, whatever was said of single ones.
    mutating func muteAllRemote(_ isMuted: Bool) {
        isAllRemoteMuted = isMuted
        remoteMutes = [:]
    }

    /// Forgets what belongs to one call.
    mutating func resetMutes() {
        isMuted = false
        muteAllRemote(false)
    }

    /// Tells a new call what differs from its defaults.
    func apply(to call: any MediaCall) {
        if isAllRemoteMuted { call.muteAllRemoteAudio(true) }
        for (uid, isMuted) in remoteMutes.sorted(by: { $0.key < $1.key }) { call.muteRemoteAudio(isMuted, uid: uid) }
        if volumeInterval > 0 { call.reportVolumes(everyMilliseconds: volumeInterval, smooth: volumeSmooth) }
        if captureGain != 1 || effectivePlaybackGain != 1 {
            call.setGain(capture: captureGain, playback: effectivePlaybackGain)
        }
    }
}
