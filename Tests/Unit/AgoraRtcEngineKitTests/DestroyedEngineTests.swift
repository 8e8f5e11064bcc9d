import Testing

@testable import AgoraRtcEngineKit

@Suite struct DestroyedEngineTests {
    /// Whatever an engine answers otherwise.
    @Test(arguments: EngineRefusalTests.video + EngineRefusalTests.recording + EngineRefusalTests.others)
    func everyMethodSaysThatItIsDead(_ refusal: EngineRefusalTests.Refusal) {
        let engine = EngineScript(nil).engine
        engine.session.destroy()
        let isOpinion = refusal.testDescription.hasPrefix("rate") || refusal.testDescription.hasPrefix("complain")
        #expect(refusal.call(engine) == (isOpinion ? -3 : -7))
    }

    @Test func soDoTheOthers() {
        let engine = EngineScript(nil).engine
        engine.session.destroy()
        let codes = [
            engine.joinChannel(byKey: nil, channelName: "tea", info: nil, uid: 0, joinChannelSuccess: nil),
            engine.leaveChannel(nil), engine.renewChannelDynamicKey("k"), engine.renewChannelKey("k"),
            engine.muteLocalAudioStream(true), engine.muteAllRemoteAudioStreams(true),
            engine.muteRemoteAudioStream(1, mute: true), engine.enableAudio(), engine.disableAudio(),
            engine.setEnableSpeakerphone(true), engine.setDefaultAudioRouteToSpeakerphone(true),
            engine.enableAudioVolumeIndication(100, smooth: 3), engine.adjustPlaybackSignalVolume(1),
            engine.adjustRecordingSignalVolume(1), engine.enableMainQueueDispatch(true), engine.setLogFile("/tmp/a"),
            engine.setLogFilter(1),
        ]
        #expect(codes.allSatisfy { $0 == -7 })
    }
}
