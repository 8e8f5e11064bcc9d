import MediaClient
import Testing

@testable import AgoraRtcEngineKit

@Suite struct UncalledBlockTests {
    /// Blocks of what is not built are taken, and never called: nor is the delegate in their place.
    @Test func theyAreTakenAndNotCalled() async {
        let app = OldDelegate()
        let (script, told) = (EngineScript(app), app.told)
        let engine = script.engine
        engine.firstLocalVideoFrameBlock { told.write("block \($0) \($1) \($2)") }
        engine.firstRemoteVideoDecodedBlock { told.write("block \($0) \($1) \($2) \($3)") }
        engine.firstRemoteVideoFrameBlock { told.write("block \($0) \($1) \($2) \($3)") }
        engine.localVideoStatBlock { told.write("block \($0) \($1)") }
        engine.remoteVideoStatBlock { told.write("block \($0) \($1) \($2) \($3)") }
        engine.cameraReadyBlock { told.write("block") }
        engine.networkQualityBlock { told.write("block \($0)") }
        engine.lastmileQualityBlock { told.write("block \($0)") }
        engine.mediaEngineEventBlock { told.write("block \($0)") }
        script.join()
        script.happens(
            .userJoined(MediaUser(uid: 1, hasVideo: true)), .statistics(.after(2)),
            .volumes(MediaVolumes(speakers: [], total: 0)), .interrupted, .rejoined(uid: 7))
        await script.settle()
        #expect(!app.told.lines.isEmpty)
        #expect(!app.told.lines.contains { $0.hasPrefix("block") })
        engine.session.callbacks[\.cameraReady]?()
        engine.session.callbacks[\.firstLocalVideoFrame]?(1, 2, 3)
        engine.session.callbacks[\.firstRemoteVideoDecoded]?(1, 2, 3, 4)
        engine.session.callbacks[\.firstRemoteVideoFrame]?(1, 2, 3, 4)
        engine.session.callbacks[\.localVideoStat]?(1, 2)
        engine.session.callbacks[\.remoteVideoStat]?(1, 2, 3, 4)
        engine.session.callbacks[\.networkQuality]?(.quality_Good)
        engine.session.callbacks[\.lastmileQuality]?(.quality_Good)
        engine.session.callbacks[\.mediaEngineEvent]?(1)
        #expect(app.told.lines.filter { $0.hasPrefix("block") }.count == 9)
    }
}
