import MediaClient
import SignalingClient
import Testing

@testable import AgoraRtcEngineKit

/// There is one engine per process: these tests use it one after the other.
@Suite(.serialized) struct SharedEngineTests {
    @Test func itIsOneUntilDestroyed() throws {
        let app = OldDelegate()
        let engine: AgoraRtcEngineKit = AgoraRtcEngineKit.sharedEngine(withVendorKey: "a", delegate: app)
        let again: AgoraRtcEngineKit! = AgoraRtcEngineKit.sharedEngine(withAppId: "b", delegate: nil)
        #expect(engine === again)
        #expect(engine.session.read { $0.vendorKey } == "b")
        AgoraRtcEngineKit.destroy()
        AgoraRtcEngineKit.destroy()
        #expect(engine.muteLocalAudioStream(true) == -7)
        let next: AgoraRtcEngineKit? = AgoraRtcEngineKit.sharedEngine(withVendorKey: "a", delegate: app)
        #expect(next !== engine)
        #expect(next?.muteLocalAudioStream(true) == 0)
        AgoraRtcEngineKit.destroy()
    }

    @Test func aNewKeyIsIgnoredInACall() {
        let script = EngineScript(nil)
        script.join()
        script.engine.session.setVendorKey("other")
        #expect(script.engine.session.read { $0.vendorKey } == "0123456789abcdef0123456789abcdef")
    }

    @Test func theErrorBlockReplacesDidOccurError() async {
        let app = OldDelegate()
        let (script, told) = (EngineScript(app), app.told)
        script.engine.session.callbacks[\.error] = { told.write("block \($0.rawValue)") }
        script.engine.joinChannel(byKey: nil, channelName: "tea", info: nil, uid: 0, joinSuccess: nil)
        script.happens(.ended(MediaError(code: 101, reason: "unknown_app", message: "m"), .after(0)))
        await script.settle()
        #expect(told.lines == ["loaded", "block 101"])
    }

    @Test func theClusterIsFound() {
        #expect(ClusterLocation.current(nil, "http://a, http://b") == .discovery(["http://a", "http://b"]))
        #expect(ClusterLocation.current("http://a", "http://b") == .discovery(["http://a"]))
        #expect(ClusterLocation.current(nil, nil) == nil)
        AgoraRtcEngineKit.configure(discovery: ["http://c"], devices: MediaDevices())
        #expect(ClusterLocation.current("http://a") == .discovery(["http://c"]))
        ClusterLocation.configure(nil)
    }
}
