// Spellings of public apps for several headers.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

import AgoraRtcEngineKit
import MediaClient
import Testing

/// Every method that no other delegate of these tests has, as apps for the annotated headers spell it.
private final class AnnotatedDelegate: AgoraRtcEngineDelegate {
    let told = Told()

    func rtcEngine(_ engine: AgoraRtcEngineKit, firstLocalVideoFrameWith size: CGSize, elapsed: Int) {
        told.write("local frame \(size.width) \(elapsed)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit, firstRemoteVideoDecodedOfUid uid: UInt, size: CGSize, elapsed: Int) {
        told.write("decoded \(uid) \(size.width) \(elapsed)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit, firstRemoteVideoFrameOfUid uid: UInt, size: CGSize, elapsed: Int) {
        told.write("remote frame \(uid) \(size.width) \(elapsed)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit, localVideoStats stats: AgoraRtcLocalVideoStats) {
        told.write("local stats \(stats.sentBytes)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit, remoteVideoStats stats: AgoraRtcRemoteVideoStats) {
        told.write("remote stats \(stats.uid)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit, localVideoStatWithSentBitrate sentBitrate: Int, sentFrameRate: Int) {
        told.write("local rates \(sentBitrate) \(sentFrameRate)")
    }
    func rtcEngine(
        _ engine: AgoraRtcEngineKit, remoteVideoStatOfUid uid: UInt, delay: Int, receivedBitrate: Int,
        receivedFrameRate: Int
    ) {
        told.write("remote rates \(uid) \(delay) \(receivedBitrate) \(receivedFrameRate)")
    }
    func rtcEngineCameraDidReady(_ engine: AgoraRtcEngineKit) { told.write("camera") }
    func rtcEngineVideoDidStop(_ engine: AgoraRtcEngineKit) { told.write("stopped") }
    func rtcEngine(_ engine: AgoraRtcEngineKit, networkQuality quality: AgoraRtcQuality) {
        told.write("network \(quality.rawValue)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit, didRefreshRecordingServiceStatus status: Int) {
        told.write("recording \(status)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit, didApiCallExecute api: String, error: Int) {
        told.write("call \(api) \(error)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit, mediaEngineEvent event: Int) { told.write("event \(event)") }
    func rtcEngine(_ engine: AgoraRtcEngineKit, lastmileQuality quality: AgoraRtcQuality) {
        told.write("last mile \(quality.rawValue)")
    }
    func rtcEngine(
        _ engine: AgoraRtcEngineKit, networkQuality uid: UInt, txQuality: AgoraRtcQuality, rxQuality: AgoraRtcQuality
    ) {
        told.write("network of \(uid) \(txQuality.rawValue) \(rxQuality.rawValue)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit, firstLocalAudioFrame elapsed: Int) {
        told.write("local audio \(elapsed)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit, firstRemoteAudioFrameOfUid uid: UInt, elapsed: Int) {
        told.write("remote audio \(uid) \(elapsed)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit, videoSizeChangedOfUid uid: UInt, size: CGSize, rotation: Int) {
        told.write("size \(uid) \(size.width) \(rotation)")
    }
    func rtcEngine(
        _ engine: AgoraRtcEngineKit, didClientRoleChanged oldRole: AgoraRtcClientRole, newRole: AgoraRtcClientRole
    ) {
        told.write("role \(oldRole.rawValue) \(newRole.rawValue)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit, receiveStreamMessageFromUid uid: UInt, streamId: Int, data: Data) {
        told.write("message \(uid) \(streamId) \(data.count)")
    }
    func rtcEngine(
        _ engine: AgoraRtcEngineKit, didOccurStreamMessageErrorFromUid uid: UInt, streamId: Int, error: Int,
        missed: Int, cached: Int
    ) {
        told.write("message error \(uid) \(streamId) \(error) \(missed) \(cached)")
    }
    func rtcEngine(
        _ engine: AgoraRtcEngineKit, device deviceId: String, type deviceType: AgoraRtcDeviceType,
        stateChanged state: Int
    ) {
        told.write("device \(deviceId) \(deviceType.rawValue) \(state)")
    }

    // Those that are called, and that the other delegates have in the older spelling only.
    func rtcEngine(_ engine: AgoraRtcEngineKit, didOfflineOfUid uid: UInt, reason: AgoraRtcUserOfflineReason) {
        told.write("offline \(uid) \(reason.rawValue)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit, didAudioMuted muted: Bool, byUid uid: UInt) {
        told.write("audio muted \(muted) \(uid)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit, didVideoMuted muted: Bool, byUid uid: UInt) {
        told.write("video muted \(muted) \(uid)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit, didVideoEnabled enabled: Bool, byUid uid: UInt) {
        told.write("video enabled \(enabled) \(uid)")
    }
    func rtcEngineConnectionDidInterrupted(_ engine: AgoraRtcEngineKit) { told.write("interrupted") }
    func rtcEngine(_ engine: AgoraRtcEngineKit, didRejoinChannel channel: String, withUid uid: UInt, elapsed: Int) {
        told.write("rejoined \(channel) \(uid)")
    }
    func rtcEngine(
        _ engine: AgoraRtcEngineKit, audioQualityOfUid uid: UInt, quality: AgoraRtcQuality, delay: UInt, lost: UInt
    ) {
        told.write("quality \(uid) \(quality.rawValue) \(delay) \(lost)")
    }
    func rtcEngineMediaEngineDidLoaded(_ engine: AgoraRtcEngineKit) { told.write("loaded") }
    func rtcEngineMediaEngineDidStartCall(_ engine: AgoraRtcEngineKit) { told.write("started") }
    func rtcEngine(_ engine: AgoraRtcEngineKit, didAudioRouteChanged routing: AgoraRtcAudioOutputRouting) {
        told.write("route \(routing.rawValue)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit, activeSpeaker speakerUid: UInt) { told.write("active \(speakerUid)") }
}

/// Every method that no call of the engine reaches, as apps for 1.x spell it.
private final class UncalledDelegate: AgoraRtcEngineDelegate {
    let told = Told()

    func rtcEngine(_ engine: AgoraRtcEngineKit!, firstLocalVideoFrameWith size: CGSize, elapsed: Int) {
        told.write("local frame \(size.width) \(elapsed)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, firstRemoteVideoDecodedOfUid uid: UInt, size: CGSize, elapsed: Int) {
        told.write("decoded \(uid) \(size.width) \(elapsed)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, firstRemoteVideoFrameOfUid uid: UInt, size: CGSize, elapsed: Int) {
        told.write("remote frame \(uid) \(size.width) \(elapsed)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, localVideoStats stats: AgoraRtcLocalVideoStats!) {
        told.write("local stats \(stats.sentBytes)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, remoteVideoStats stats: AgoraRtcRemoteVideoStats!) {
        told.write("remote stats \(stats.uid)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, localVideoStatWithSentBitrate sentBitrate: Int, sentFrameRate: Int) {
        told.write("local rates \(sentBitrate) \(sentFrameRate)")
    }
    func rtcEngine(
        _ engine: AgoraRtcEngineKit!, remoteVideoStatOfUid uid: UInt, delay: Int, receivedBitrate: Int,
        receivedFrameRate: Int
    ) {
        told.write("remote rates \(uid) \(delay) \(receivedBitrate) \(receivedFrameRate)")
    }
    func rtcEngineCameraDidReady(_ engine: AgoraRtcEngineKit!) { told.write("camera") }
    func rtcEngineVideoDidStop(_ engine: AgoraRtcEngineKit!) { told.write("stopped") }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, networkQuality quality: AgoraRtcQuality) {
        told.write("network \(quality.rawValue)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didRefreshRecordingServiceStatus status: Int) {
        told.write("recording \(status)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didApiCallExecute api: String!, error: Int) {
        told.write("call \(api!) \(error)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, mediaEngineEvent event: Int) { told.write("event \(event)") }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, lastmileQuality quality: AgoraRtcQuality) {
        told.write("last mile \(quality.rawValue)")
    }
    func rtcEngine(
        _ engine: AgoraRtcEngineKit!, networkQuality uid: UInt, txQuality: AgoraRtcQuality, rxQuality: AgoraRtcQuality
    ) {
        told.write("network of \(uid) \(txQuality.rawValue) \(rxQuality.rawValue)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, firstLocalAudioFrame elapsed: Int) {
        told.write("local audio \(elapsed)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, firstRemoteAudioFrameOfUid uid: UInt, elapsed: Int) {
        told.write("remote audio \(uid) \(elapsed)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, videoSizeChangedOfUid uid: UInt, size: CGSize, rotation: Int) {
        told.write("size \(uid) \(size.width) \(rotation)")
    }
    func rtcEngine(
        _ engine: AgoraRtcEngineKit!, didClientRoleChanged oldRole: AgoraRtcClientRole, newRole: AgoraRtcClientRole
    ) {
        told.write("role \(oldRole.rawValue) \(newRole.rawValue)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, receiveStreamMessageFromUid uid: UInt, streamId: Int, data: Data!) {
        told.write("message \(uid) \(streamId) \(data.count)")
    }
    func rtcEngine(
        _ engine: AgoraRtcEngineKit!, didOccurStreamMessageErrorFromUid uid: UInt, streamId: Int, error: Int,
        missed: Int, cached: Int
    ) {
        told.write("message error \(uid) \(streamId) \(error) \(missed) \(cached)")
    }
    func rtcEngine(
        _ engine: AgoraRtcEngineKit!, device deviceId: String!, type deviceType: AgoraRtcDeviceType,
        stateChanged state: Int
    ) {
        told.write("device \(deviceId!) \(deviceType.rawValue) \(state)")
    }
}

/// The methods that no call reaches yet still are the app's in both spellings, so that what is built later finds them.
@Suite struct AllDelegateMethodsTests {
    /// Calls every method that the engine does not call, in the spelling by which it would.
    private func callTheUncalled(_ delegate: any AgoraRtcEngineDelegate) {
        let engine: AgoraRtcEngineKit? = EngineScript(nil).engine
        let size = CGSize(width: 4, height: 3)
        delegate.rtcEngine(engine, firstLocalVideoFrameWith: size, elapsed: 1)
        delegate.rtcEngine(engine, firstRemoteVideoDecodedOfUid: 2, size: size, elapsed: 3)
        delegate.rtcEngine(engine, firstRemoteVideoFrameOfUid: 4, size: size, elapsed: 5)
        delegate.rtcEngine(engine, localVideoStats: AgoraRtcLocalVideoStats())
        delegate.rtcEngine(engine, remoteVideoStats: AgoraRtcRemoteVideoStats())
        delegate.rtcEngine(engine, localVideoStatWithSentBitrate: 6, sentFrameRate: 7)
        delegate.rtcEngine(engine, remoteVideoStatOfUid: 8, delay: 9, receivedBitrate: 10, receivedFrameRate: 11)
        delegate.rtcEngineCameraDidReady(engine)
        delegate.rtcEngineVideoDidStop(engine)
        delegate.rtcEngine(engine, networkQuality: .quality_Good)
        delegate.rtcEngine(engine, didRefreshRecordingServiceStatus: 1)
        delegate.rtcEngine(engine, didApiCallExecute: "a", error: 2)
        delegate.rtcEngine(engine, mediaEngineEvent: 3)
        delegate.rtcEngine(engine, lastmileQuality: .quality_Poor)
        delegate.rtcEngine(engine, networkQuality: 4, txQuality: .quality_Bad, rxQuality: .quality_VBad)
        delegate.rtcEngine(engine, firstLocalAudioFrame: 5)
        delegate.rtcEngine(engine, firstRemoteAudioFrameOfUid: 6, elapsed: 7)
        delegate.rtcEngine(engine, videoSizeChangedOfUid: 8, size: size, rotation: 90)
        delegate.rtcEngine(
            engine, didClientRoleChanged: .clientRole_Broadcaster, newRole: .clientRole_Audience)
        delegate.rtcEngine(engine, receiveStreamMessageFromUid: 9, streamId: 10, data: Data([1, 2]))
        delegate.rtcEngine(
            engine, didOccurStreamMessageErrorFromUid: 11, streamId: 12, error: 13, missed: 14, cached: 15)
        delegate.rtcEngine(engine, device: "d", type: .deviceType_Video_Capture, stateChanged: 16)
    }

    private let uncalled = [
        "local frame 4.0 1", "decoded 2 4.0 3", "remote frame 4 4.0 5", "local stats 0", "remote stats 0",
        "local rates 6 7", "remote rates 8 9 10 11", "camera", "stopped", "network 2", "recording 1", "call a 2",
        "event 3", "last mile 3", "network of 4 4 5", "local audio 5", "remote audio 6 7", "size 8 4.0 90", "role 1 2",
        "message 9 10 2", "message error 11 12 13 14 15", "device d 3 16",
    ]

    /// A call in which the engine calls everything that it can.
    private func live(_ delegate: any AgoraRtcEngineDelegate) async {
        let script = EngineScript(delegate)
        script.engine.setEnableSpeakerphone(true)
        script.join()
        var statistics = MediaStatistics.after(2)
        statistics.audio = [.of(uid: 1, quality: 2, delay: 80, lost: 3)]
        script.happens(
            .userJoined(MediaUser(uid: 1, isAudioMuted: true, isVideoMuted: true, hasVideo: true)),
            .volumes(MediaVolumes(speakers: [.init(uid: 1, volume: 9)], total: 10)), .statistics(statistics),
            .interrupted, .rejoined(uid: 7), .userLeft(uid: 1, .dropped))
        await script.settle()
    }

    @Test func theOldSpellingOfTheUncalled() {
        let app = UncalledDelegate()
        callTheUncalled(app)
        #expect(app.told.lines == uncalled)
    }

    @Test func theNewSpellingOfTheUncalled() {
        let app = AnnotatedDelegate()
        callTheUncalled(app)
        #expect(app.told.lines == uncalled)
    }

    @Test func theUncalledAreNotCalled() async {
        let app = UncalledDelegate()
        await live(app)
        #expect(app.told.lines.isEmpty)
    }

    @Test func theNewSpellingOfTheCalled() async {
        let app = AnnotatedDelegate()
        await live(app)
        #expect(
            app.told.lines == [
                "route 3", "loaded", "started", "audio muted true 1", "video muted true 1", "video enabled true 1",
                "active 1", "quality 1 2 80 3", "interrupted", "rejoined tea 7", "offline 1 1",
            ])
    }
}
