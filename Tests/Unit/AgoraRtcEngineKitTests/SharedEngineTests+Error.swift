import Testing

@testable import AgoraRtcEngineKit

extension SharedEngineTests {
    @Test func anEngineWithAnErrorBlock() throws {
        let told = Told()
        let engine: AgoraRtcEngineKit = AgoraRtcEngineKit.sharedEngine(
            withVendorKey: "a", error: { told.write("first \($0.rawValue)") })
        engine.session.callbacks[\.error]?(.error_InvalidAppId)
        let again: AgoraRtcEngineKit = AgoraRtcEngineKit.sharedEngine(
            withAppId: "b", error: { told.write("second \($0.rawValue)") })
        #expect(again === engine)
        #expect(engine.session.read { $0.vendorKey } == "b")
        engine.session.callbacks[\.error]?(.error_ChannelKeyExpired)
        #expect(told.lines == ["first 101", "second 109"])
        // Who comes with a delegate is called by it from now on.
        _ = AgoraRtcEngineKit.sharedEngine(withVendorKey: "a", delegate: nil)
        #expect(engine.session.callbacks[\.error] == nil)
        AgoraRtcEngineKit.destroy()
    }
}
