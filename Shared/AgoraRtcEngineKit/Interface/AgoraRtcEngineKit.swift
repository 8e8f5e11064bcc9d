// Names, labels and types are those that the Clang importer gives the Objective-C header.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

@_exported public import CAgoraRtcCodes
@_exported public import Foundation
@_exported public import MediaClient
internal import NIOConcurrencyHelpers

// `@unchecked Sendable`: apps subclass it, which a class with a checked conformance does not allow. Its constants are
// Sendable.
/// The interface of the old media framework, so that apps that were written for it compile and run unchanged: the Swift
/// face alone, and of the features audio. Source: Native SDK for iOS 1.4.
///
/// Usable from any thread. Methods return at once: 0, or minus the code of a refusal: -7 once the engine was destroyed,
/// -4 for what is not built. Callbacks are called one at a time, in order, on the main queue, never on the caller's
/// stack. The cluster is found by ``configure(discovery:devices:)``, else by the environment variable `HELIOGRAPH_URL`,
/// else by `HeliographURL` in the app's Info.plist.
open class AgoraRtcEngineKit: NSObject, @unchecked Sendable {
    private static let shared = NIOLockedValueBox<AgoraRtcEngineKit?>(nil)

    let session: EngineSession

    /// Makes an engine without a vendor key, which cannot join. Apps use `sharedEngine`.
    public required override init() {
        session = EngineSession(.current)
        super.init()
    }

    /// Makes an engine beside that of the process, for tests.
    package init(_ surroundings: EngineSurroundings, vendorKey: String, delegate: (any AgoraRtcEngineDelegate)?) {
        session = EngineSession(surroundings)
        super.init()
        prepare(vendorKey, delegate, nil)
    }

    private func prepare(
        _ key: String!, _ delegate: (any AgoraRtcEngineDelegate)?, _ errorBlock: ((AgoraRtcErrorCode) -> Void)?
    ) {
        session.setVendorKey(key ?? "")
        session.callbacks.setReceiver(engine: self, delegate: delegate)
        session.callbacks[\.error] = errorBlock
    }

    // MARK: - The engine of the process

    /// Sets where the cluster is and what the user talks and listens with, before the first `sharedEngine`. Not part of
    /// the old framework.
    /// - Parameters:
    ///   - discovery: base URLs that answer `/getaddr`, such as `https://signal.example.org`.
    ///   - devices: what the user talks and listens with.
    public class func configure(discovery: [String], devices: MediaDevices) {
        EngineSurroundings.configure(discovery, devices)
    }

    /// The version of the interface that this class implements.
    open class func getSdkVersion() -> String! { "1.4.0" }

    /// The version of the media engine.
    open class func getMediaEngineVersion() -> String! { "1.4.0.heliograph" }

    /// The engine of the process, made if there is none.
    /// - Parameters:
    ///   - key: the app's id; a new one is taken unless a call runs.
    ///   - delegate: who is called from now on; held weakly.
    /// - Returns: nil when the process has an engine of another class.
    open class func sharedEngine(withVendorKey key: String!, delegate: (any AgoraRtcEngineDelegate)!) -> Self! {
        engine(key, delegate, nil)
    }

    /// The engine of the process, whose errors go to a block. Deprecated in the old framework.
    open class func sharedEngine(
        withVendorKey key: String!, error errorBlock: ((AgoraRtcErrorCode) -> Void)!
    ) -> Self! {
        engine(key, nil, errorBlock)
    }

    /// The engine of the process: the later name of ``sharedEngine(withVendorKey:delegate:)``.
    open class func sharedEngine(withAppId appId: String!, delegate: (any AgoraRtcEngineDelegate)!) -> Self! {
        engine(appId, delegate, nil)
    }

    /// The engine of the process: the later name of ``sharedEngine(withVendorKey:error:)``.
    open class func sharedEngine(withAppId appId: String!, error errorBlock: ((AgoraRtcErrorCode) -> Void)!) -> Self! {
        engine(appId, nil, errorBlock)
    }

    private class func engine(
        _ key: String!, _ delegate: (any AgoraRtcEngineDelegate)?, _ errorBlock: ((AgoraRtcErrorCode) -> Void)?
    ) -> Self? {
        let engine = shared.withLockedValue { shared in
            let engine = shared ?? Self()
            shared = engine
            return engine
        }
        guard let engine = engine as? Self else { return nil }
        engine.prepare(key, delegate, errorBlock)
        return engine
    }

    /// Leaves the channel and ends the engine of the process: no callback follows, and its methods return -7.
    open class func destroy() {
        let engine = shared.withLockedValue { shared in
            defer { shared = nil }
            return shared
        }
        engine?.session.destroy()
    }

    // MARK: - Channels

    /// Joins a channel. 0 means that the attempt has begun: it ends in `joinSuccess` (else `didJoinChannel`), or in
    /// `didOccurError`, after which the engine waits for `leaveChannel`.
    /// - Parameters:
    ///   - key: the dynamic key; nil, empty or the vendor key for none.
    ///   - channelName: 1 to 64 characters: letters, digits, space, `! # $ % & ( ) + , - : ; < = . > ? @ [ ] ^ _ { } |
    ///     ~` and
    ///     the back quote.
    ///   - info: a text for the record of the call, up to 4096 bytes.
    ///   - uid: the user's number, up to 4294967295; 0 for any that is free.
    ///   - joinSuccess: called once, instead of the delegate: the channel, the uid, and the ms that joining took.
    /// - Returns: -17 in a call, -102 for the channel's name, -101 without a vendor key, -2 for the uid or `info`, -3
    ///   when nobody has said where the cluster is.
    @discardableResult
    open func joinChannel(
        byKey key: String!, channelName: String!, info: String!, uid: UInt, joinSuccess: ((String?, UInt, Int) -> Void)!
    ) -> Int32 {
        let request = EngineRequest(
            key: key ?? "", channel: channelName ?? "", info: info ?? "", uid: uid)
        return session.join(request, joinSuccess)
    }

    /// Joins a channel: the label of the last parameter as the documents spell it.
    @_disfavoredOverload @discardableResult
    open func joinChannel(
        byKey key: String!, channelName: String!, info: String!, uid: UInt,
        joinChannelSuccess: ((String?, UInt, Int) -> Void)!
    ) -> Int32 {
        joinChannel(byKey: key, channelName: channelName, info: info, uid: uid, joinSuccess: joinChannelSuccess)
    }

    /// Leaves the channel, at the latest after 3 s; then the block is called, once, with what the call has sent and
    /// received: the last callback of the call. Out of a call the block gets zeroes. Forgets mutes, keeps all other
    /// settings.
    @discardableResult
    open func leaveChannel(_ leaveChannelBlock: ((AgoraRtcStats?) -> Void)!) -> Int32 {
        session.leave(leaveChannelBlock)
    }

    /// Gives the call another key. Returns -3 out of a call, -2 without a key.
    @discardableResult
    open func renewChannelDynamicKey(_ key: String!) -> Int32 { session.renew("renewChannelDynamicKey", key ?? "") }

    /// The id of the call, or of the last one: 32 hexadecimal characters, new with each join; empty before the first.
    open func getCallId() -> String! { session.read { $0.callID } }

    /// Accepts one of the three profiles, else returns -2. They make no difference here: in each channel all users may
    /// talk.
    @discardableResult
    open func setChannelProfile(_ profile: AgoraRtcChannelProfile) -> Int32 {
        session.act("setChannelProfile") { _ in
            (0...2).contains(profile.rawValue) ? .error_NoError : .error_InvalidArgument
        }
    }

    // MARK: - Audio

    /// Plays by the loudspeaker, or by the ear piece: tells the playback device. Default: the ear piece.
    @discardableResult
    open func setEnableSpeakerphone(_ enableSpeaker: Bool) -> Int32 {
        session.setSpeaker("setEnableSpeakerphone") { $0.speaker = enableSpeaker }
    }

    /// Whether the loudspeaker plays.
    open func isSpeakerphoneEnabled() -> Bool { session.read { $0.settings.isSpeaker } }

    /// Not built: returns -2 above 255, else -4; `adjustPlaybackSignalVolume` works. Deprecated in the old framework.
    @discardableResult
    open func setSpeakerphoneVolume(_ volume: UInt) -> Int32 {
        session.refuse("setSpeakerphoneVolume") { _ in volume > 255 ? .error_InvalidArgument : nil }
    }

    /// Reports the users' volumes in a call.
    /// - Parameters:
    ///   - interval: in ms; 0 and below for never, at least 100 else.
    ///   - smooth: 1 and below for none, else each new value counts as one of so many.
    @discardableResult
    open func enableAudioVolumeIndication(_ interval: Int, smooth: Int) -> Int32 {
        session.reportVolumes(interval, smooth)
    }

    /// Not built: returns -3 out of a call, -2 without a path, else -4.
    @discardableResult
    open func startAudioRecording(_ filePath: String!) -> Int32 {
        session.refuse("startAudioRecording") { Self.recordingRefusal($0, filePath) }
    }

    /// Not built: returns -3 out of a call, else -5, as nothing is recorded.
    @discardableResult
    open func stopAudioRecording() -> Int32 {
        session.refuse("stopAudioRecording") { $0.runningCall == nil ? .error_NotReady : .error_Refused }
    }

    /// Not built: returns -5 in a call, else -4.
    @discardableResult
    open func startEchoTest(_ successBlock: ((String?, UInt, Int) -> Void)!) -> Int32 {
        session.refuse("startEchoTest") { $0.isOut ? nil : .error_Refused }
    }

    /// Returns -5: no echo test runs.
    @discardableResult
    open func stopEchoTest() -> Int32 { session.refuse("stopEchoTest") { _ in .error_Refused } }

    /// Sends nothing of what is captured, or sends it again; the others are told. Before a call: for the next one.
    @discardableResult
    open func muteLocalAudioStream(_ mute: Bool) -> Int32 { session.muteLocal(mute) }

    /// Plays no user, or all of them, those who come later too. Before a call: for the next one.
    @discardableResult
    open func muteAllRemoteAudioStreams(_ mute: Bool) -> Int32 { session.muteAllRemote(mute) }

    /// Plays one user or not, kept until the user comes. Returns -2 for uid 0, and -5 for more than 1000 users before a
    /// call.
    @discardableResult
    open func muteRemoteAudioStream(_ uid: UInt, mute: Bool) -> Int32 { session.muteRemote(uid, mute) }

    /// Plays one user or not: the label as the documents spell it.
    @discardableResult
    open func muteRemoteAudioStream(_ uid: UInt, muted: Bool) -> Int32 { muteRemoteAudioStream(uid, mute: muted) }

    // MARK: - Video, none of which is built

    /// No video is built: returns -4.
    @discardableResult
    open func enableVideo() -> Int32 { session.refuse("enableVideo") }

    /// Returns 0: video is off.
    @discardableResult
    open func disableVideo() -> Int32 { session.act("disableVideo") { _ in .error_NoError } }

    /// Returns -3: video is off.
    @discardableResult
    open func startPreview() -> Int32 { session.refuse("startPreview") { _ in .error_NotReady } }

    /// Returns -3: video is off.
    @discardableResult
    open func stopPreview() -> Int32 { session.refuse("stopPreview") { _ in .error_NotReady } }

    /// No video is built: returns -4, or 0 for nil, which takes away a canvas.
    @discardableResult
    open func setupLocalVideo(_ local: AgoraRtcVideoCanvas!) -> Int32 {
        guard local != nil else { return session.act("setupLocalVideo") { _ in .error_NoError } }
        return session.refuse("setupLocalVideo")
    }

    /// No video is built: returns -4, or -2 without a canvas or for uid 0.
    @discardableResult
    open func setupRemoteVideo(_ remote: AgoraRtcVideoCanvas!) -> Int32 {
        session.refuse("setupRemoteVideo") { _ in Self.uidRefusal(remote?.uid ?? 0) }
    }

    /// No video is built: returns -4, or -2 for a mode that does not exist.
    @discardableResult
    open func setLocalRenderMode(_ mode: AgoraRtcRenderMode) -> Int32 {
        session.refuse("setLocalRenderMode") { _ in Self.modeRefusal(mode) }
    }

    /// No video is built: returns -4, or -2 for uid 0 or a mode that does not exist.
    @discardableResult
    open func setRemoteRenderMode(_ uid: UInt, mode: AgoraRtcRenderMode) -> Int32 {
        session.refuse("setRemoteRenderMode") { _ in Self.uidRefusal(uid) ?? Self.modeRefusal(mode) }
    }

    /// No video is built: returns -4. Deprecated in the old framework.
    @discardableResult
    open func switchView(_ uid1: UInt, andAnother uid2: UInt) -> Int32 { session.refuse("switchView") }

    /// No video is built: returns -4: there is no second source.
    @discardableResult
    open func switchCamera() -> Int32 { session.refuse("switchCamera") }

    /// No video is built: returns -4, or -2 for a profile that does not exist.
    @discardableResult
    open func setVideoProfile(_ profile: AgoraRtcVideoProfile) -> Int32 {
        session.refuse("setVideoProfile") { _ in profile.exists ? nil : .error_InvalidArgument }
    }

    /// No video is built: returns -4.
    @discardableResult
    open func muteLocalVideoStream(_ mute: Bool) -> Int32 { session.refuse("muteLocalVideoStream") }

    /// No video is built: returns -4.
    @discardableResult
    open func muteAllRemoteVideoStreams(_ mute: Bool) -> Int32 { session.refuse("muteAllRemoteVideoStreams") }

    /// No video is built: returns -4, or -2 for uid 0.
    @discardableResult
    open func muteRemoteVideoStream(_ uid: UInt, mute: Bool) -> Int32 {
        session.refuse("muteRemoteVideoStream") { _ in Self.uidRefusal(uid) }
    }

    /// No video is built: returns -4, or -2 for uid 0. The label as the documents spell it.
    @discardableResult
    open func muteRemoteVideoStream(_ uid: UInt, muted: Bool) -> Int32 { muteRemoteVideoStream(uid, mute: muted) }

    // MARK: - Quality, recording by the cluster

    /// Not built: returns -4.
    @discardableResult
    open func enableNetworkTest() -> Int32 { session.refuse("enableNetworkTest") }

    /// Returns 0: no test runs.
    @discardableResult
    open func disableNetworkTest() -> Int32 { session.act("disableNetworkTest") { _ in .error_NoError } }

    /// Not built: returns the empty text.
    open func makeQualityReportUrl(
        _ channel: String!, listenerUid: UInt, speakerrUid: UInt, reportFormat: AgoraRtcQualityReportFormat
    ) -> String! {
        ""
    }

    /// Not built: returns -2 for a form of the id, a rating outside 1...10 or more than 799 bytes, -3 when destroyed,
    /// else -4.
    @discardableResult
    open func rate(_ callId: String!, rating: Int, description: String!) -> Int32 {
        session.refuseOpinion("rate", callId ?? "", rating: rating, description ?? "")
    }

    /// Not built: refuses as ``rate(_:rating:description:)`` does.
    @discardableResult
    open func complain(_ callId: String!, description: String!) -> Int32 {
        session.refuseOpinion("complain", callId ?? "", rating: 1, description ?? "")
    }

    /// Not built: returns -2 without a key, else -4.
    @discardableResult
    open func startRecordingService(_ key: String!) -> Int32 {
        session.refuse("startRecordingService") { _ in Self.textRefusal(key) }
    }

    /// Not built: returns -2 without a key, else -4.
    @discardableResult
    open func stopRecordingService(_ key: String!) -> Int32 {
        session.refuse("stopRecordingService") { _ in Self.textRefusal(key) }
    }

    /// Not built: returns -4.
    @discardableResult
    open func refreshRecordingServiceStatus() -> Int32 { session.refuse("refreshRecordingServiceStatus") }

    // MARK: - Engine

    /// Knows no parameters: returns -2 without a text, else -4.
    @discardableResult
    open func setParameters(_ options: String!) -> Int32 {
        session.refuse("setParameters") { _ in Self.textRefusal(options) }
    }

    /// Appends what happens to that file: a line per event, never a key. Returns -2 without a path, -1 when the file
    /// cannot be made.
    @discardableResult
    open func setLogFile(_ filePath: String!) -> Int32 { session.setLogFile(filePath ?? "") }

    /// Chooses the lines of the log: an or of `AgoraRtcLogFilter`s; default 0x0F, 0 for none. Returns -2 for other
    /// bits.
    @discardableResult
    open func setLogFilter(_ filter: UInt) -> Int32 {
        session.act("setLogFilter") { _ in session.log.setFilter(filter) ? .error_NoError : .error_InvalidArgument }
    }

    /// Nil: there is no engine of another language below this one.
    open func getNativeHandle() -> UnsafeMutableRawPointer! { nil }

    // MARK: - Blocks

    /// Replaces `reportAudioVolumeIndicationOfSpeakers`; the elements are `AgoraRtcAudioVolumeInfo`s; nil brings the
    /// delegate back.
    open func audioVolumeIndicationBlock(_ block: (([Any]?, Int) -> Void)!) {
        session.callbacks[\.audioVolumeIndication] = block
    }

    /// Replaces `firstLocalVideoFrameWith`, which is not called; nil brings the delegate back.
    open func firstLocalVideoFrameBlock(_ block: ((Int, Int, Int) -> Void)!) {
        session.callbacks[\.firstLocalVideoFrame] = block
    }

    /// Replaces `firstRemoteVideoDecodedOfUid`, which is not called; nil brings the delegate back.
    open func firstRemoteVideoDecodedBlock(_ block: ((UInt, Int, Int, Int) -> Void)!) {
        session.callbacks[\.firstRemoteVideoDecoded] = block
    }

    /// Replaces `firstRemoteVideoFrameOfUid`, which is not called; nil brings the delegate back.
    open func firstRemoteVideoFrameBlock(_ block: ((UInt, Int, Int, Int) -> Void)!) {
        session.callbacks[\.firstRemoteVideoFrame] = block
    }

    /// Replaces `didJoinedOfUid`; nil brings the delegate back.
    open func userJoinedBlock(_ block: ((UInt, Int) -> Void)!) { session.callbacks[\.userJoined] = block }

    /// Replaces `didOfflineOfUid`; nil brings the delegate back.
    open func userOfflineBlock(_ block: ((UInt) -> Void)!) { session.callbacks[\.userOffline] = block }

    /// Replaces `didAudioMuted`; nil brings the delegate back.
    open func userMuteAudioBlock(_ block: ((UInt, Bool) -> Void)!) { session.callbacks[\.userMuteAudio] = block }

    /// Replaces `didVideoMuted`; nil brings the delegate back.
    open func userMuteVideoBlock(_ block: ((UInt, Bool) -> Void)!) { session.callbacks[\.userMuteVideo] = block }

    /// Replaces `localVideoStats`, which is not called; nil brings the delegate back.
    open func localVideoStatBlock(_ block: ((Int, Int) -> Void)!) { session.callbacks[\.localVideoStat] = block }

    /// Replaces `remoteVideoStats`, which is not called; nil brings the delegate back.
    open func remoteVideoStatBlock(_ block: ((UInt, Int, Int, Int) -> Void)!) {
        session.callbacks[\.remoteVideoStat] = block
    }

    /// Replaces `rtcEngineCameraDidReady`, which is not called; nil brings the delegate back.
    open func cameraReadyBlock(_ block: (() -> Void)!) { session.callbacks[\.cameraReady] = block }

    /// Replaces `rtcEngineConnectionDidLost`; nil brings the delegate back.
    open func connectionLostBlock(_ block: (() -> Void)!) { session.callbacks[\.connectionLost] = block }

    /// Replaces `didRejoinChannel`; nil brings the delegate back.
    open func rejoinChannelSuccessBlock(_ block: ((String?, UInt, Int) -> Void)!) {
        session.callbacks[\.rejoinChannelSuccess] = block
    }

    /// Replaces `report`; nil brings the delegate back.
    open func rtcStatsBlock(_ block: ((AgoraRtcStats?) -> Void)!) { session.callbacks[\.rtcStats] = block }

    /// Replaces `didLeaveChannelWith`; a block of `leaveChannel` goes before; nil brings the delegate back.
    open func leaveChannelBlock(_ block: ((AgoraRtcStats?) -> Void)!) { session.callbacks[\.leaveChannel] = block }

    /// Replaces `audioQualityOfUid`; nil brings the delegate back.
    open func audioQualityBlock(_ block: ((UInt, AgoraRtcQuality, UInt, UInt) -> Void)!) {
        session.callbacks[\.audioQuality] = block
    }

    /// Replaces `networkQuality`, which is not called; nil brings the delegate back.
    open func networkQualityBlock(_ block: ((AgoraRtcQuality) -> Void)!) { session.callbacks[\.networkQuality] = block }

    /// Replaces `mediaEngineEvent`, which is not called; nil brings the delegate back.
    open func mediaEngineEventBlock(_ block: ((Int) -> Void)!) { session.callbacks[\.mediaEngineEvent] = block }
}

extension AgoraRtcEngineKit {
    static func uidRefusal(_ uid: UInt) -> AgoraRtcErrorCode? {
        UInt32(exactly: uid).map { $0 != 0 } == true ? nil : .error_InvalidArgument
    }

    static func textRefusal(_ text: String?) -> AgoraRtcErrorCode? {
        (text ?? "").isEmpty ? .error_InvalidArgument : nil
    }

    static func recordingRefusal(_ state: EngineSession.State, _ path: String?) -> AgoraRtcErrorCode? {
        state.runningCall == nil ? .error_NotReady : textRefusal(path)
    }

    private static func modeRefusal(_ mode: AgoraRtcRenderMode) -> AgoraRtcErrorCode? {
        (1...3).contains(mode.rawValue) ? nil : .error_InvalidArgument
    }
}
