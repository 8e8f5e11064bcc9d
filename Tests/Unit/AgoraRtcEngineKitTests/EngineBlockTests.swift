import MediaClient
import Testing

@testable import AgoraRtcEngineKit

/// Each block replaces its method of the delegate, and only that.
@Suite struct EngineBlockTests {
    let app = OldDelegate()
    let script: EngineScript

    init() { script = EngineScript(app) }

    private func setBlocks() {
        let (engine, told) = (script.engine, app.told)
        engine.audioVolumeIndicationBlock { speakers, total in
            let first = speakers?.first as? AgoraRtcAudioVolumeInfo
            told.write("volumesBlock \(first?.uid ?? 0):\(first?.volume ?? 0) \(total)")
        }
        engine.userJoinedBlock { told.write("userBlock \($0) \($1)") }
        engine.userOfflineBlock { told.write("offlineBlock \($0)") }
        engine.userMuteAudioBlock { told.write("audioBlock \($0) \($1)") }
        engine.userMuteVideoBlock { told.write("videoBlock \($0) \($1)") }
        engine.connectionLostBlock { told.write("lostBlock") }
        engine.rejoinChannelSuccessBlock { told.write("rejoinBlock \($0!) \($1) \($2)") }
        engine.rtcStatsBlock { told.write("statsBlock \($0!.duration) \($0!.txAudioKBitrate) \($0!.rxAudioKBitrate)") }
    }

    private func happen() {
        script.happens(
            .userJoined(MediaUser(uid: 1, isAudioMuted: true)), .videoMuted(uid: 1, true),
            .volumes(MediaVolumes(speakers: [.init(uid: 0, volume: 9)], total: 9)), .statistics(.after(2)),
            .interrupted,
            .lost, .rejoined(uid: 7), .userLeft(uid: 1, .quit))
    }

    @Test func blocksReplaceTheDelegate() async {
        setBlocks()
        script.join()
        happen()
        await script.settle()
        #expect(
            app.told.lines.dropFirst(3) == [
                "userBlock 1 0", "audioBlock 1 true", "videoBlock 1 true", "volumesBlock 0:9 9", "statsBlock 2 32 33",
                "interrupted", "lostBlock", "rejoinBlock tea 7 0", "offlineBlock 1",
            ])
    }

    @Test func nilBringsTheDelegateBack() async {
        setBlocks()
        let engine = script.engine
        engine.audioVolumeIndicationBlock(nil)
        engine.userJoinedBlock(nil)
        engine.userOfflineBlock(nil)
        engine.userMuteAudioBlock(nil)
        engine.userMuteVideoBlock(nil)
        engine.connectionLostBlock(nil)
        engine.rejoinChannelSuccessBlock(nil)
        engine.rtcStatsBlock(nil)
        script.join()
        happen()
        await script.settle()
        #expect(
            app.told.lines.dropFirst(3) == [
                "user 1 0", "audio muted true 1", "video muted true 1", "volumes 0:9 9", "stats 2 1000 2000 2",
                "interrupted", "lost", "rejoined tea 7 0", "offline 1 0",
            ])
    }

    @Test func keptReportsDoNotChange() async {
        let kept = KeptStats()
        script.engine.rtcStatsBlock { kept.all.append($0!) }
        script.join()
        script.happens(.statistics(.after(2)), .statistics(.after(4)))
        await script.settle()
        #expect(kept.all.map(\.duration) == [2, 4])
    }
}

/// `@unchecked Sendable`: written by callbacks, which come one at a time, and read after them.
private final class KeptStats: @unchecked Sendable {
    var all: [AgoraRtcStats] = []
}
