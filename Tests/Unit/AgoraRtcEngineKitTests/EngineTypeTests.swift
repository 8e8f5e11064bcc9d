import MediaClient
import Testing

@testable import AgoraRtcEngineKit

@Suite struct EngineTypeTests {
    @Test func aReportHasWhatWasMeasured() {
        var statistics = MediaStatistics.after(5)
        statistics.sentBytes = .max
        let stats = AgoraRtcStats(statistics)
        #expect([stats.duration, stats.txBytes, stats.rxBytes, stats.users] == [5, .max, 2000, 2])
        #expect([stats.txAudioKBitrate, stats.rxAudioKBitrate] == [32, 33])
        #expect([stats.txVideoKBitrate, stats.rxVideoKBitrate] == [0, 0])
        #expect([stats.cpuAppUsage, stats.cpuTotalUsage] == [0, 0])
    }

    @Test func aReportOfNothing() {
        let stats = AgoraRtcStats()
        #expect([stats.duration, stats.txBytes, stats.rxBytes, stats.users] == [0, 0, 0, 0])
        let volume = AgoraRtcAudioVolumeInfo()
        #expect([volume.uid, volume.volume] == [0, 0])
    }

    @Test func aSpeaker() {
        let volume = AgoraRtcAudioVolumeInfo(MediaVolumes.Speaker(uid: .max, volume: 255))
        #expect([volume.uid, volume.volume] == [4_294_967_295, 255])
    }

    @Test func aCanvasIsFilledAndShowsTheLocalUser() {
        let canvas = AgoraRtcVideoCanvas()
        #expect(canvas.view == nil)
        #expect(canvas.renderMode == .render_Hidden)
        #expect(canvas.uid == 0)
        canvas.renderMode = .render_Fit
        canvas.uid = 5
        #expect(canvas.renderMode == .render_Fit && canvas.uid == 5)
    }

    /// Apps read them; the engine makes none.
    @Test func reportsOfVideoAreEmpty() {
        let local = AgoraRtcLocalVideoStats()
        #expect([local.sentBytes, local.sentFrames, local.sentBitrate, local.sentFrameRate] == [0, 0, 0, 0])
        let remote = AgoraRtcRemoteVideoStats()
        #expect([remote.uid, remote.delay, remote.width, remote.height] == [0, 0, 0, 0])
        #expect([remote.receivedBitrate, remote.receivedFrameRate] == [0, 0])
    }
}
