import MediaClient
import Testing

@testable import AgoraRtcEngineKit

extension EngineMethodTests {
    /// As the documents spell it; a trailing closure stays that of the headers.
    @Test func theOtherLabelOfTheJoinBlock() async {
        let told = app.told
        let code = engine.joinChannel(
            byKey: "k", channelName: "tea", info: "i", uid: 3,
            joinChannelSuccess: { channel, uid, elapsed in told.write("block \(channel!) \(uid) \(elapsed)") })
        #expect(code == 0)
        #expect(script.call.configuration.key == "k" && script.call.configuration.uid == 3)
        script.happens(.joined(uid: 3))
        await script.settle()
        #expect(app.told.lines == ["loaded", "started", "block tea 3 0"])
    }
}
