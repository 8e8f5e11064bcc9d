import Dispatch
import MediaClient
import NIOConcurrencyHelpers
import Testing

@testable import AgoraRtcEngineKit

@Suite struct CallbackQueueTests {
    @Test func theMainQueueByDefault() async {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        let script = EngineScript(nil, onMainQueue: true)
        let onMain = NIOLockedValueBox(false)
        script.engine.userJoinedBlock { _, _ in
            let isMain = DispatchQueue.getSpecific(key: key) == true
            onMain.withLockedValue { $0 = isMain }
        }
        script.join()
        script.happens(.userJoined(MediaUser(uid: 1)))
        await script.settle()
        #expect(onMain.withLockedValue { $0 })
    }

    @Test func orderHoldsWhenTheQueueChanges() async {
        let app = OldDelegate()
        let script = EngineScript(app)
        script.join()
        for uid in 1...300 as ClosedRange<UInt32> {
            script.happens(.audioMuted(uid: uid, true))
            if uid % 20 == 0 { script.engine.enableMainQueueDispatch(uid % 40 == 0) }
        }
        await script.settle()
        #expect(app.told.lines.dropFirst(3) == (1...300).map { "audio muted true \($0)" }[...])
    }

    @Test func neverOnTheCallersStack() async {
        let script = EngineScript(nil)
        let calls = NIOLockedValueBox<[String]>([])
        script.engine.leaveChannel { _ in
            script.engine.leaveChannel { _ in calls.withLockedValue { $0.append("inner") } }
            calls.withLockedValue { $0.append("outer") }
        }
        await script.settle()
        await script.settle()
        #expect(calls.withLockedValue { $0 } == ["outer", "inner"])
    }
}
