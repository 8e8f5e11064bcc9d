import Dispatch
import MediaClient
import Testing

@testable import AgoraRtcEngineKit

@Suite struct EngineEventTests {
    let app = OldDelegate()
    let script: EngineScript

    init() { script = EngineScript(app) }

    /// What the app is told of an event in a channel.
    func told(_ events: MediaEvent...) async -> [String] {
        script.join()
        events.forEach(script.call.sink)
        await script.settle()
        return Array(app.told.lines.drop { $0 != "joined tea 7 0" }.dropFirst())
    }

    @Test func joined() async {
        script.engine.joinChannel(byKey: nil, channelName: "tea", info: nil, uid: 0, joinSuccess: nil)
        script.pass(milliseconds: 250)
        script.happens(.joined(uid: 7))
        await script.settle()
        #expect(app.told.lines == ["loaded", "started", "joined tea 7 250"])
    }

    @Test func whoIsThereComesAfterTheJoin() async {
        let told = await told(
            .userJoined(MediaUser(uid: 1)), .userJoined(MediaUser(uid: 2, isAudioMuted: true)),
            .userJoined(MediaUser(uid: 3, isAudioMuted: true, isVideoMuted: true, hasVideo: true)))
        #expect(
            told == [
                "user 1 0", "user 2 0", "audio muted true 2", "user 3 0", "audio muted true 3", "video muted true 3",
                "video enabled true 3",
            ])
    }

    @Test func othersLeave() async {
        let told = await told(.userLeft(uid: 1, .quit), .userLeft(uid: 4_294_967_295, .dropped))
        #expect(told == ["offline 1 0", "offline 4294967295 1"])
    }

    @Test func othersMute() async {
        let told = await told(
            .audioMuted(uid: 1, true), .audioMuted(uid: 1, false), .videoMuted(uid: 2, true),
            .videoEnabled(uid: 3, false))
        #expect(told == ["audio muted true 1", "audio muted false 1", "video muted true 2", "video enabled false 3"])
    }

    @Test func volumesAndTheLoudest() async {
        let first = MediaVolumes(speakers: [.init(uid: 0, volume: 200), .init(uid: 5, volume: 90)], total: 210)
        let second = MediaVolumes(speakers: [.init(uid: 5, volume: 80)], total: 80)
        let told = await told(.volumes(first), .volumes(second), .volumes(MediaVolumes(speakers: [], total: 0)))
        #expect(told == ["volumes 0:200,5:90 210", "active 5", "volumes 5:80 80", "volumes  0"])
    }

    @Test func statistics() async {
        let told = await told(.statistics(.after(2)), .statistics(.after(4)))
        #expect(told == ["stats 2 1000 2000 2", "stats 4 1000 2000 2"])
    }

    @Test func theConnectionBreaks() async {
        script.join()
        script.happens(.interrupted, .lost)
        script.pass(milliseconds: 12_500)
        script.happens(.rejoined(uid: 7))
        await script.settle()
        #expect(app.told.lines.suffix(3) == ["interrupted", "lost", "rejoined tea 7 12500"])
    }

    @Test func warningsKeepTheirCode() async {
        let told = await told(.warning(MediaError(code: 104, reason: "a", message: "b")))
        #expect(told == ["warning 104"])
    }

    @Test func whatIsTriedAgainIsAWarningWhateverRefusedIt() async {
        script.join()
        for code in [12, 10, 1, 103] {
            script.happens(.warning(MediaError(code: code, reason: "a", message: "b")))
        }
        await script.settle()
        let told = app.told.lines.filter { $0.hasPrefix("warning") }
        #expect(told == ["warning 108", "warning 104", "warning 105", "warning 103"])
    }

    @Test func keys() async {
        let wrong = MediaError(code: 110, reason: "wrong_key", message: "m")
        let often = MediaError(code: 12, reason: "rate_limited", message: "m")
        let told = await told(.keyExpired, .keyRefused(wrong), .keyRefused(often), .keyRenewed)
        #expect(told == ["error 109", "request key", "error 110", "request key", "error 12"])
    }

    /// Each keeps its code; nothing else happens to the call.
    @Test(arguments: [
        (1014, "playback_late"), (1016, "capture_late"), (1019, "capture_silent"), (1020, "playback_off_pace"),
        (1021, "capture_off_pace"),
    ])
    func warningsOfDevices(_ code: Int, _ reason: String) async {
        let told = await told(.warning(MediaError(code: code, reason: reason, message: "m")))
        #expect(told == ["warning \(code)"])
    }

    @Test func devices() async {
        let (said, still) = (DeviceFailure(.running, "x"), DeviceFailure(.standstill, "x"))
        let told = await told(
            .deviceFailed(.capture, said), .deviceFailed(.playback, said), .deviceFailed(.capture, still),
            .deviceFailed(.playback, still))
        #expect(told == ["error 1017", "error 1015", "error 1018", "error 1015"])
    }

    @Test(arguments: [
        (MediaDevice.capture, DeviceFailure.Cause.start, "error 1012"), (.playback, .start, "error 1009"),
        (.capture, .preparation, "error 1011"), (.playback, .preparation, "error 1008"),
        (.capture, .sampleRate, "error 1007"), (.playback, .sampleRate, "error 1007"),
        (.capture, .permission, "error 9"), (.playback, .permission, "error 9"),
    ])
    func aDeviceThatCannotStartEndsTheAttempt(
        _ device: MediaDevice, _ cause: DeviceFailure.Cause, _ byStep: String
    ) async {
        script.engine.joinChannel(byKey: nil, channelName: "tea", info: nil, uid: 0) { _, _, _ in
            Issue.record("joined")
        }
        script.happens(.deviceFailed(device, DeviceFailure(cause, "x")), .joined(uid: 7))
        await script.settle()
        #expect(app.told.lines == ["loaded", byStep, "error 1002"])
        #expect(script.engine.joinChannel(byKey: nil, channelName: "tea", info: nil, uid: 0, joinSuccess: nil) == -17)
        #expect(script.engine.leaveChannel(nil) == 0)
        #expect(script.engine.joinChannel(byKey: nil, channelName: "tea", info: nil, uid: 0, joinSuccess: nil) == 0)
    }

    @Test func anErrorEndsTheCallAndWaitsForLeaving() async {
        let full = MediaError(code: 17, reason: "channel_full", message: "m")
        script.engine.joinChannel(byKey: nil, channelName: "tea", info: nil, uid: 0) { _, _, _ in
            Issue.record("joined")
        }
        script.happens(.ended(full, .after(3)), .joined(uid: 7), .lost)
        #expect(
            script.engine.joinChannel(byKey: nil, channelName: "tea", info: nil, uid: 0, joinSuccess: nil) == -17)
        #expect(script.engine.leaveChannel(nil) == 0)
        await script.settle()
        #expect(app.told.lines == ["loaded", "error 17", "left 3"])
        #expect(script.call.asked == ["start"])
        #expect(script.engine.joinChannel(byKey: nil, channelName: "tea", info: nil, uid: 0, joinSuccess: nil) == 0)
    }

    @Test func anAppThatTakesNoCallbacksIsNotThere() async throws {
        script.join()
        await script.settle()
        let gate = DispatchSemaphore(value: 0)
        script.engine.session.callbacks.tell([{ _ in gate.wait() }])
        for _ in 0..<EngineCallbacks.bound { script.happens(.audioMuted(uid: 1, true)) }
        script.happens(.statistics(.after(2)))
        for _ in 0...EngineCallbacks.bound { script.happens(.audioMuted(uid: 1, false)) }
        gate.signal()
        await script.settle()
        #expect(script.call.asked == ["start", "leave"])
        #expect(app.told.lines.last == "error 1")
        #expect(!app.told.lines.contains { $0.hasPrefix("stats") })
        #expect(app.told.lines.count <= 2 * EngineCallbacks.bound + 5)
    }
}
