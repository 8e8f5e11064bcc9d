// Spellings of public apps for several headers.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

import AgoraRtcEngineKit
import MediaClient
import Testing

/// As apps for the annotated headers spell the methods.
private final class NewDelegate: AgoraRtcEngineDelegate {
    let told = Told()

    func rtcEngine(_ engine: AgoraRtcEngineKit, didOccurWarning warningCode: AgoraRtcWarningCode) {
        told.write("warning \(warningCode.rawValue)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit, didOccurError errorCode: AgoraRtcErrorCode) {
        told.write("error \(errorCode.rawValue)")
    }
    func rtcEngine(
        _ engine: AgoraRtcEngineKit, reportAudioVolumeIndicationOfSpeakers speakers: [Any], totalVolume: Int
    ) {
        told.write("volumes \(speakers.count) \(totalVolume)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit, didJoinedOfUid uid: UInt, elapsed: Int) { told.write("user \(uid)") }
    func rtcEngine(_ engine: AgoraRtcEngineKit, didJoinChannel channel: String, withUid uid: UInt, elapsed: Int) {
        told.write("joined \(channel) \(uid)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit, report stats: AgoraRtcStats) { told.write("stats \(stats.duration)") }
    func rtcEngine(_ engine: AgoraRtcEngineKit, didLeaveChannelWith stats: AgoraRtcStats) {
        told.write("left \(stats.duration)")
    }
    func rtcEngineConnectionDidLost(_ engine: AgoraRtcEngineKit) { told.write("lost") }
    func rtcEngineRequestChannelKey(_ engine: AgoraRtcEngineKit) { told.write("request key") }
}

/// With the types of the first documents, in an extension.
private final class FirstDelegate {
    let told = Told()
}

extension FirstDelegate: AgoraRtcEngineDelegate {
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didOccurWarning warningCode: AgoraRtcErrorCode) {
        told.write("warning \(warningCode.rawValue)")
    }
    func rtcEngine(
        _ engine: AgoraRtcEngineKit!, reportAudioVolumeIndicationOfSpeakers speakers: NSArray!, totalVolume: Int
    ) {
        told.write("volumes \(speakers.count) \(totalVolume)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, reportRtcStats stats: AgoraRtcStats!) {
        told.write("stats \(stats.duration)")
    }
}

/// With the types of the last headers.
private final class LastDelegate: AgoraRtcEngineDelegate {
    let told = Told()

    func rtcEngine(_ engine: AgoraRtcEngineKit, didOccurWarning warningCode: AgoraRtcErrorCode) {
        told.write("warning \(warningCode.rawValue)")
    }
    func rtcEngine(
        _ engine: AgoraRtcEngineKit, reportAudioVolumeIndicationOfSpeakers speakers: [AgoraRtcAudioVolumeInfo],
        totalVolume: Int
    ) {
        told.write("volumes \(speakers[0].volume) \(totalVolume)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit, reportRtcStats stats: AgoraRtcStats) {
        told.write("stats \(stats.duration)")
    }
}

/// Implements nothing.
private final class SilentDelegate: AgoraRtcEngineDelegate {}

@Suite struct DelegateSpellingTests {
    /// A call in which something of everything happens.
    private func live(_ delegate: any AgoraRtcEngineDelegate) async {
        let script = EngineScript(delegate)
        script.join()
        script.happens(
            .userJoined(MediaUser(uid: 1)), .warning(MediaError(code: 104, reason: "r", message: "m")), .keyExpired,
            .volumes(MediaVolumes(speakers: [.init(uid: 0, volume: 9)], total: 10)), .statistics(.after(2)), .lost)
        script.engine.leaveChannel(nil)
        script.happens(.ended(nil, .after(3)))
        await script.settle()
    }

    @Test func oldSpellings() async {
        let app = OldDelegate()
        await live(app)
        #expect(
            app.told.lines == [
                "loaded", "started", "joined tea 7 0", "user 1 0", "warning 104", "error 109", "request key",
                "volumes 0:9 10", "stats 2 1000 2000 2", "lost", "left 3",
            ])
    }

    @Test func newSpellings() async {
        let app = NewDelegate()
        await live(app)
        #expect(
            app.told.lines == [
                "joined tea 7", "user 1", "warning 104", "error 109", "request key", "volumes 1 10", "stats 2", "lost",
                "left 3",
            ])
    }

    @Test func typesOfTheFirstDocuments() async {
        let app = FirstDelegate()
        await live(app)
        #expect(app.told.lines == ["warning 104", "volumes 1 10", "stats 2"])
    }

    @Test func typesOfTheLastHeaders() async {
        let app = LastDelegate()
        await live(app)
        #expect(app.told.lines == ["warning 104", "volumes 9 10", "stats 2"])
    }

    @Test func noneAtAll() async { await live(SilentDelegate()) }

    @Test func theDelegateIsHeldWeakly() async {
        var app: OldDelegate? = OldDelegate()
        let (told, script) = (app!.told, EngineScript(app))
        app = nil
        script.join()
        await script.settle()
        #expect(told.lines.isEmpty)
    }
}
