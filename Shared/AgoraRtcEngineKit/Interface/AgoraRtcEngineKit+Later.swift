// Names, labels and types are those that the Clang importer gives the Objective-C header.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

public import CAgoraRtcCodes
public import Foundation

/// What headers after 1.4 have added, as far as public apps call it. Unlike the methods of the class, subclasses cannot
/// override these.
extension AgoraRtcEngineKit {
    /// Gives the call another key: the later name of ``renewChannelDynamicKey(_:)``.
    @discardableResult
    public func renewChannelKey(_ channelKey: String!) -> Int32 { session.renew("renewChannelKey", channelKey ?? "") }

    /// Sends and plays audio; the default.
    @discardableResult
    public func enableAudio() -> Int32 { session.enableAudio(true) }

    /// Neither sends nor plays audio, which still comes; the others are told as of a mute.
    @discardableResult
    public func disableAudio() -> Int32 { session.enableAudio(false) }

    /// Calls the app on the main queue, or on a queue of the engine's own: for programs that do not run the main queue.
    @discardableResult
    public func enableMainQueueDispatch(_ enabled: Bool) -> Int32 {
        session.act("enableMainQueueDispatch") { _ in
            session.callbacks.setQueue(isMain: enabled)
            return .error_NoError
        }
    }

    /// The route until ``setEnableSpeakerphone(_:)`` says one.
    @discardableResult
    public func setDefaultAudioRouteToSpeakerphone(_ defaultToSpeaker: Bool) -> Int32 {
        session.setSpeaker("setDefaultAudioRouteToSpeakerphone") { $0.defaultSpeaker = defaultToSpeaker }
    }

    /// Makes what is sent louder or softer, in percent. Returns -2 outside 0...400.
    @discardableResult
    public func adjustRecordingSignalVolume(_ volume: Int) -> Int32 {
        session.setGain("adjustRecordingSignalVolume", \.captureGain, volume)
    }

    /// Makes what is played louder or softer, in percent. Returns -2 outside 0...400.
    @discardableResult
    public func adjustPlaybackSignalVolume(_ volume: Int) -> Int32 {
        session.setGain("adjustPlaybackSignalVolume", \.playbackGain, volume)
    }

    /// Not built: refuses as ``startAudioRecording(_:)`` does.
    @discardableResult
    public func startAudioRecording(_ filePath: String!, quality: AgoraRtcAudioRecordingQuality) -> Int32 {
        session.refuse("startAudioRecording") { Self.recordingRefusal($0, filePath) }
    }

    /// Not built: returns -4.
    @discardableResult
    public func enableLastmileTest() -> Int32 { session.refuse("enableLastmileTest") }

    /// Returns 0: no test runs.
    @discardableResult
    public func disableLastmileTest() -> Int32 { session.act("disableLastmileTest") { _ in .error_NoError } }

    /// Replaces `lastmileQuality`, which is not called.
    public func lastmileQualityBlock(_ block: ((AgoraRtcQuality) -> Void)!) {
        session.callbacks[\.lastmileQuality] = block
    }

    /// No video is built: returns -4, or -2 for a profile that does not exist.
    @discardableResult
    public func setVideoProfile(_ profile: AgoraRtcVideoProfile, swapWidthAndHeight: Bool) -> Int32 {
        setVideoProfile(profile)
    }

    /// No video is built: returns -4.
    @discardableResult
    public func enableLocalVideo(_ enabled: Bool) -> Int32 { session.refuse("enableLocalVideo") }

    /// Roles are not built: returns -2 for a role that does not exist, else -4.
    @discardableResult
    public func setClientRole(_ role: AgoraRtcClientRole, withKey permissionKey: String!) -> Int32 {
        setClientRole(role)
    }

    /// Roles are not built: returns -2 for a role that does not exist, else -4.
    @discardableResult
    public func setClientRole(_ role: AgoraRtcClientRole) -> Int32 {
        session.refuse("setClientRole") { _ in (1...2).contains(role.rawValue) ? nil : .error_InvalidArgument }
    }

    /// Data streams are not built: returns -4.
    @discardableResult
    public func createDataStream(_ streamId: UnsafeMutablePointer<Int>!, reliable: Bool, ordered: Bool) -> Int32 {
        session.refuse("createDataStream")
    }

    /// Data streams are not built: returns -4.
    @discardableResult
    public func sendStreamMessage(_ streamId: Int, data: Data!) -> Int32 { session.refuse("sendStreamMessage") }

    /// No video is built: returns -4.
    @discardableResult
    public func enableDualStreamMode(_ enabled: Bool) -> Int32 { session.refuse("enableDualStreamMode") }

    /// No video is built: returns -4, or -2 for uid 0.
    @discardableResult
    public func setRemoteVideoStream(_ uid: UInt, type: AgoraRtcVideoStreamType) -> Int32 {
        session.refuse("setRemoteVideoStream") { _ in Self.uidRefusal(uid) }
    }

    /// No video is built: returns -4.
    @discardableResult
    public func setVideoQualityParameters(_ preferFrameRateOverImageQuality: Bool) -> Int32 {
        session.refuse("setVideoQualityParameters")
    }

    /// Returns 0: there is one protocol for all clients.
    @discardableResult
    public func enableWebSdkInteroperability(_ enabled: Bool) -> Int32 {
        session.act("enableWebSdkInteroperability") { _ in .error_NoError }
    }

    /// Returns -4: media is encrypted up to the cluster, not end to end, and no app is to believe so.
    @discardableResult
    public func setEncryptionMode(_ encryptionMode: String!) -> Int32 { session.refuse("setEncryptionMode") }

    /// Returns -4: media is encrypted up to the cluster, not end to end, and no app is to believe so.
    @discardableResult
    public func setEncryptionSecret(_ secret: String!) -> Int32 { session.refuse("setEncryptionSecret") }

    /// No video is built: returns -4.
    @discardableResult
    public func startScreenCapture(_ windowId: UInt, withCaptureFreq captureFreq: Int32, andRect rect: CGRect) -> Int32
    {
        session.refuse("startScreenCapture")
    }

    /// No video is built: returns -4.
    @discardableResult
    public func stopScreenCapture() -> Int32 { session.refuse("stopScreenCapture") }
}

extension AgoraRtcVideoProfile {
    /// The values between the first and the last of each size that have a profile.
    private static let ranges: [ClosedRange<Int>] = [
        0...2, 10...13, 20...23, 30...39, 40...49, 50...55, 60...65, 66...67, 70...73, 100...100,
    ]

    /// Whether this is a profile of any header.
    var exists: Bool { Self.ranges.contains { $0.contains(rawValue) } }
}
