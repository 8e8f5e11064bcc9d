import MediaClient
import Testing

@testable import AgoraRtcEngineKit

/// What is not built is refused with the code that the documents give, arguments first.
@Suite struct EngineRefusalTests {
    struct Refusal: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var code: Int32
        var isInCall = false
        var call: @Sendable (AgoraRtcEngineKit) -> Int32

        init(
            _ text: String, _ code: Int32, isInCall: Bool = false,
            _ call: @escaping @Sendable (AgoraRtcEngineKit) -> Int32
        ) {
            testDescription = text
            self.code = code
            self.isInCall = isInCall
            self.call = call
        }
    }

    static let id = String(repeating: "0a", count: 16)

    static let video: [Refusal] = [
        Refusal("enableVideo", -4) { $0.enableVideo() },
        Refusal("disableVideo: it is off", 0) { $0.disableVideo() },
        Refusal("startPreview", -3) { $0.startPreview() },
        Refusal("stopPreview", -3) { $0.stopPreview() },
        Refusal("setupLocalVideo", -4) { $0.setupLocalVideo(AgoraRtcVideoCanvas()) },
        Refusal("setupLocalVideo nil", 0) { $0.setupLocalVideo(nil) },
        Refusal("setupRemoteVideo nil", -2) { $0.setupRemoteVideo(nil) },
        Refusal("setupRemoteVideo uid 0", -2) { $0.setupRemoteVideo(AgoraRtcVideoCanvas()) },
        Refusal("setupRemoteVideo", -4) {
            let canvas = AgoraRtcVideoCanvas()
            canvas.uid = 5
            return $0.setupRemoteVideo(canvas)
        },
        Refusal("setLocalRenderMode 0", -2) { $0.setLocalRenderMode(AgoraRtcRenderMode(rawValue: 0)!) },
        Refusal("setLocalRenderMode", -4) { $0.setLocalRenderMode(.render_Fit) },
        Refusal("setRemoteRenderMode uid 0", -2) { $0.setRemoteRenderMode(0, mode: .render_Fit) },
        Refusal("setRemoteRenderMode 4", -2) { $0.setRemoteRenderMode(5, mode: AgoraRtcRenderMode(rawValue: 4)!) },
        Refusal("setRemoteRenderMode", -4) { $0.setRemoteRenderMode(5, mode: .render_Adaptive) },
        Refusal("switchView", -4) { $0.switchView(1, andAnother: 2) },
        Refusal("switchCamera", -4) { $0.switchCamera() },
        Refusal("setVideoProfile invalid", -2) { $0.setVideoProfile(._VideoProfile_Invalid) },
        Refusal("setVideoProfile 3", -2) { $0.setVideoProfile(AgoraRtcVideoProfile(rawValue: 3)!) },
        Refusal("setVideoProfile", -4) { $0.setVideoProfile(._VideoProfile_720P) },
        Refusal("setVideoProfile swapped", -4) { $0.setVideoProfile(._VideoProfile_4K_3, swapWidthAndHeight: true) },
        Refusal("muteLocalVideoStream", -4) { $0.muteLocalVideoStream(true) },
        Refusal("muteAllRemoteVideoStreams", -4) { $0.muteAllRemoteVideoStreams(true) },
        Refusal("muteRemoteVideoStream 0", -2) { $0.muteRemoteVideoStream(0, mute: true) },
        Refusal("muteRemoteVideoStream", -4) { $0.muteRemoteVideoStream(5, muted: true) },
        Refusal("enableLocalVideo", -4) { $0.enableLocalVideo(true) },
        Refusal("enableDualStreamMode", -4) { $0.enableDualStreamMode(true) },
        Refusal("setRemoteVideoStream", -4) { $0.setRemoteVideoStream(5, type: .videoStream_Low) },
        Refusal("setVideoQualityParameters", -4) { $0.setVideoQualityParameters(true) },
        Refusal("startScreenCapture", -4) { $0.startScreenCapture(1, withCaptureFreq: 15, andRect: .zero) },
        Refusal("stopScreenCapture", -4) { $0.stopScreenCapture() },
    ]

    static let recording: [Refusal] = [
        Refusal("startAudioRecording out", -3) { $0.startAudioRecording("/tmp/a.wav") },
        Refusal("startAudioRecording nil", -2, isInCall: true) { $0.startAudioRecording(nil) },
        Refusal("startAudioRecording", -4, isInCall: true) { $0.startAudioRecording("/tmp/a.wav") },
        Refusal("startAudioRecording quality", -4, isInCall: true) {
            $0.startAudioRecording("/tmp/a.wav", quality: .audioRecordingQuality_High)
        },
        Refusal("stopAudioRecording out", -3) { $0.stopAudioRecording() },
        Refusal("stopAudioRecording", -5, isInCall: true) { $0.stopAudioRecording() },
        Refusal("startRecordingService nil", -2, isInCall: true) { $0.startRecordingService(nil) },
        Refusal("startRecordingService", -4, isInCall: true) { $0.startRecordingService("k") },
        Refusal("stopRecordingService empty", -2, isInCall: true) { $0.stopRecordingService("") },
        Refusal("stopRecordingService", -4, isInCall: true) { $0.stopRecordingService("k") },
        Refusal("refreshRecordingServiceStatus", -4, isInCall: true) { $0.refreshRecordingServiceStatus() },
    ]

    static let others: [Refusal] = [
        Refusal("startEchoTest in a call", -5, isInCall: true) { $0.startEchoTest(nil) },
        Refusal("startEchoTest", -4) { $0.startEchoTest { _, _, _ in } },
        Refusal("stopEchoTest", -5) { $0.stopEchoTest() },
        Refusal("enableNetworkTest", -4) { $0.enableNetworkTest() },
        Refusal("disableNetworkTest: it is off", 0) { $0.disableNetworkTest() },
        Refusal("enableLastmileTest", -4) { $0.enableLastmileTest() },
        Refusal("disableLastmileTest: it is off", 0) { $0.disableLastmileTest() },
        Refusal("rate id", -2) { $0.rate("1", rating: 5, description: nil) },
        Refusal("rate 0", -2) { $0.rate(id, rating: 0, description: nil) },
        Refusal("rate 11", -2) { $0.rate(id, rating: 11, description: nil) },
        Refusal("rate 800 bytes", -2) { $0.rate(id, rating: 5, description: String(repeating: "a", count: 800)) },
        Refusal("rate", -4) { $0.rate(id, rating: 10, description: String(repeating: "a", count: 799)) },
        Refusal("complain id", -2) { $0.complain(nil, description: "a") },
        Refusal("complain", -4) { $0.complain(id, description: "a") },
        Refusal("setParameters nil", -2) { $0.setParameters(nil) },
        Refusal("setParameters", -4) { $0.setParameters("{}") },
        Refusal("setSpeakerphoneVolume 256", -2) { $0.setSpeakerphoneVolume(256) },
        Refusal("setSpeakerphoneVolume", -4) { $0.setSpeakerphoneVolume(255) },
        Refusal("setChannelProfile 3", -2) { $0.setChannelProfile(AgoraRtcChannelProfile(rawValue: 3)!) },
        Refusal("setChannelProfile", 0) { $0.setChannelProfile(.channelProfile_Communication) },
        Refusal("setClientRole 3", -2) { $0.setClientRole(AgoraRtcClientRole(rawValue: 3)!) },
        Refusal("setClientRole", -4) { $0.setClientRole(.clientRole_Audience, withKey: nil) },
        Refusal("createDataStream", -4) { $0.createDataStream(nil, reliable: true, ordered: true) },
        Refusal("sendStreamMessage", -4) { $0.sendStreamMessage(1, data: nil) },
        Refusal("setEncryptionMode", -4) { $0.setEncryptionMode("aes-128-xts") },
        Refusal("setEncryptionSecret", -4) { $0.setEncryptionSecret("s") },
        Refusal("enableWebSdkInteroperability", 0) { $0.enableWebSdkInteroperability(true) },
    ]

    @Test(arguments: video + recording + others) func refuses(_ refusal: Refusal) async {
        let app = OldDelegate()
        let script = EngineScript(app)
        if refusal.isInCall { script.join() }
        await script.settle()
        let before = app.told.lines
        #expect(refusal.call(script.engine) == refusal.code)
        await script.settle()
        #expect(app.told.lines == before)
    }

    @Test func whatReturnsNoCode() {
        let engine = EngineScript(nil).engine
        #expect(
            engine.makeQualityReportUrl("a", listenerUid: 1, speakerrUid: 2, reportFormat: .qualityReportFormat_Json)
                == "")
        #expect(engine.getNativeHandle() == nil)
        #expect(AgoraRtcEngineKit.getSdkVersion() == "1.4.0")
        #expect(AgoraRtcEngineKit.getMediaEngineVersion().hasPrefix("1.4.0"))
    }
}
