import Dispatch
import MediaClient
import NIOConcurrencyHelpers
import Testing

@testable import AgoraRtcEngineKit

@Suite struct EngineLeaveTests {
    let app = OldDelegate()
    let script: EngineScript

    init() { script = EngineScript(app) }

    /// Leaves, and writes down what the block is given.
    func leave() -> Int32 {
        let told = app.told
        return script.engine.leaveChannel { told.write("block \($0!.duration)") }
    }

    @Test func outOfACallTheBlockGetsZeroesOnce() async {
        #expect(leave() == 0)
        await script.settle()
        await script.settle()
        #expect(app.told.lines == ["block 0"])
    }

    @Test func theBlockComesOnceAndLast() async {
        script.join()
        #expect(leave() == 0)
        script.happens(
            .userJoined(MediaUser(uid: 1)), .ended(nil, .after(9)), .statistics(.after(11)), .ended(nil, .after(9)))
        await script.settle()
        #expect(app.told.lines == ["loaded", "started", "joined tea 7 0", "block 9"])
        #expect(script.call.asked == ["start", "leave"])
    }

    @Test func aSecondLeaveIsAnsweredToo() async {
        script.join()
        #expect(leave() == 0)
        #expect(leave() == 0)
        script.happens(.ended(nil, .after(9)))
        await script.settle()
        #expect(app.told.lines.filter { $0 == "block 9" }.count == 2)
        #expect(script.call.asked == ["start", "leave"])
    }

    @Test func blocksGoBeforeTheDelegate() async {
        let told = app.told
        script.engine.leaveChannelBlock { told.write("general \($0!.duration)") }
        _ = leave()
        script.engine.leaveChannel(nil)
        await script.settle()
        script.engine.leaveChannelBlock(nil)
        script.engine.leaveChannel(nil)
        await script.settle()
        #expect(app.told.lines == ["block 0", "general 0", "left 0"])
    }

    @Test func theNextCallBeginsInTheBlock() async {
        script.join()
        let (script, told) = (script, app.told)
        script.engine.leaveChannel { _ in
            let code = script.engine.joinChannel(byKey: nil, channelName: "milk", info: nil, uid: 0) {
                channel, uid, _ in
                told.write("second \(channel!) \(uid)")
            }
            told.write("code \(code)")
        }
        #expect(script.engine.joinChannel(byKey: nil, channelName: "tea", info: nil, uid: 0, joinSuccess: nil) == -17)
        script.happens(.ended(nil, .after(1)))
        await script.settle()
        script.happens(.joined(uid: 8))
        script.calls[0].sink(.lost)
        await script.settle()
        #expect(app.told.lines.suffix(4) == ["code 0", "loaded", "started", "second milk 8"])
    }

    @Test func leavingForgetsMutesAndKeepsTheRest() async {
        script.engine.muteLocalAudioStream(true)
        script.engine.muteAllRemoteAudioStreams(true)
        script.engine.muteRemoteAudioStream(5, mute: false)
        script.engine.enableAudioVolumeIndication(50, smooth: 0)
        script.engine.adjustPlaybackSignalVolume(200)
        script.join()
        #expect(script.call.configuration.isMuted)
        #expect(script.call.asked == ["start", "all true", "remote 5 false", "volumes 100 1", "gain 1.0 2.0"])
        script.engine.leaveChannel(nil)
        script.happens(.ended(nil, .after(1)))
        script.join()
        #expect(!script.call.configuration.isMuted)
        #expect(script.call.asked == ["start", "volumes 100 1", "gain 1.0 2.0"])
    }

    @Test func nothingComesAfterDestroy() async {
        script.join()
        await script.settle()
        let (began, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let (script, told) = (script, app.told)
        await withCheckedContinuation { done in
            script.engine.session.callbacks.tell([
                { _ in
                    began.signal()
                    gate.wait()
                    done.resume()
                }
            ])
            // What has not begun when the engine is destroyed is never called.
            began.wait()
            script.engine.leaveChannel { _ in told.write("block") }
            script.happens(.ended(nil, .after(1)))
            script.engine.session.destroy()
            gate.signal()
        }
        script.happens(.lost)
        #expect(app.told.lines == ["loaded", "started", "joined tea 7 0"])
    }

    @Test func destroyLeavesAndEveryMethodSaysSo() async {
        script.join()
        script.engine.session.destroy()
        #expect(script.call.asked == ["start", "leave"])
        #expect(script.engine.leaveChannel(nil) == -7)
        #expect(script.engine.joinChannel(byKey: nil, channelName: "tea", info: nil, uid: 0, joinSuccess: nil) == -7)
        #expect(script.engine.muteLocalAudioStream(true) == -7)
        #expect(script.engine.enableVideo() == -7)
        #expect(script.engine.setLogFilter(0) == -7)
        #expect(script.engine.rate("", rating: 0, description: nil) == -3)
    }
}
