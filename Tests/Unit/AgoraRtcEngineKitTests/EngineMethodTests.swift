import Foundation
import MediaClient
import Testing

@testable import AgoraRtcEngineKit

@Suite struct EngineMethodTests {
    let app = OldDelegate()
    let script: EngineScript
    var engine: AgoraRtcEngineKit { script.engine }

    init() { script = EngineScript(app) }

    func join(_ engine: AgoraRtcEngineKit, channel: String? = "tea", info: String? = nil, uid: UInt = 0) -> Int32 {
        engine.joinChannel(byKey: nil, channelName: channel, info: info, uid: uid, joinSuccess: nil)
    }

    // MARK: - Joining

    @Test(arguments: [nil, "", "a*b", "a/b", "ä", String(repeating: "a", count: 65)] as [String?])
    func aChannelsNameIsChecked(_ name: String?) {
        #expect(join(engine, channel: name) == -102)
        #expect(script.calls.isEmpty)
    }

    @Test(arguments: ["a", "!#$%&()+,-:;<=.>?@[]^_`{}|~ 0", String(repeating: "z", count: 64)])
    func aGoodName(_ name: String) {
        #expect(join(engine, channel: name) == 0)
        #expect(script.call.configuration.channel == name)
    }

    @Test func joinsThatAreRefused() {
        #expect(join(EngineScript(app, vendorKey: "").engine) == -101)
        #expect(join(EngineScript(app, vendorKey: "a b").engine) == -101)
        #expect(join(EngineScript(app, source: nil).engine) == -3)
        #expect(join(engine, uid: 4_294_967_296) == -2)
        #expect(join(engine, info: String(repeating: "i", count: 4097)) == -2)
        #expect(join(engine, info: String(repeating: "i", count: 4096), uid: 4_294_967_295) == 0)
        #expect(join(engine) == -17)
        script.happens(.joined(uid: 7))
        #expect(join(engine) == -17)
    }

    @Test func whatACallIsGiven() {
        engine.joinChannel(byKey: "k", channelName: "tea", info: "i", uid: 3, joinSuccess: nil)
        #expect(script.call.configuration.key == "k")
        #expect(script.call.configuration.info == "i")
        #expect(script.call.configuration.uid == 3)
        #expect(script.call.configuration.app == "0123456789abcdef0123456789abcdef")
    }

    @Test func theVendorKeyIsNoKey() {
        let key = "0123456789abcdef0123456789abcdef"
        engine.joinChannel(byKey: key, channelName: "tea", info: nil, uid: 0, joinSuccess: nil)
        #expect(script.call.configuration.key.isEmpty)
    }

    @Test func theJoinBlockReplacesTheDelegateOnce() async {
        let told = app.told
        let code = engine.joinChannel(byKey: nil, channelName: "tea", info: nil, uid: 0) { channel, uid, elapsed in
            told.write("block \(channel!) \(uid) \(elapsed)")
        }
        #expect(code == 0)
        script.pass(milliseconds: 40)
        script.happens(.joined(uid: 9))
        await script.settle()
        #expect(app.told.lines == ["loaded", "started", "block tea 9 40"])
        engine.leaveChannel(nil)
        script.happens(.ended(nil, .after(1)))
        script.join()
        await script.settle()
        #expect(app.told.lines.suffix(4) == ["left 1", "loaded", "started", "joined tea 7 0"])
    }

    @Test func eachJoinHasItsID() throws {
        #expect(engine.getCallId() == "")
        #expect(join(engine) == 0)
        let first: String = engine.getCallId()
        #expect(first.count == 32 && first.allSatisfy { $0.isHexDigit })
        engine.leaveChannel(nil)
        script.happens(.ended(nil, .after(1)))
        #expect(engine.getCallId() == first)
        #expect(join(engine) == 0)
        #expect(engine.getCallId() != first)
    }

    @Test func renewing() {
        #expect(engine.renewChannelDynamicKey("k") == -3)
        script.join()
        #expect(engine.renewChannelDynamicKey(nil) == -2)
        #expect(engine.renewChannelKey("") == -2)
        #expect(engine.renewChannelDynamicKey("k1") == 0)
        #expect(engine.renewChannelKey("k2") == 0)
        #expect(script.call.asked == ["start", "renew k1", "renew k2"])
    }

    // MARK: - Audio

    @Test func mutes() {
        script.join()
        #expect(engine.muteLocalAudioStream(true) == 0)
        #expect(engine.muteAllRemoteAudioStreams(true) == 0)
        #expect(engine.muteRemoteAudioStream(5, mute: false) == 0)
        #expect(engine.muteRemoteAudioStream(5, muted: true) == 0)
        #expect(engine.muteRemoteAudioStream(0, mute: true) == -2)
        #expect(engine.muteRemoteAudioStream(4_294_967_296, mute: true) == -2)
        #expect(script.call.asked == ["start", "local true", "all true", "remote 5 false", "remote 5 true"])
    }

    @Test func mutesBeforeACallAreBounded() {
        for uid in 1...UInt(EngineSettings.mutesBound) { #expect(engine.muteRemoteAudioStream(uid, mute: true) == 0) }
        #expect(engine.muteRemoteAudioStream(5000, mute: true) == -5)
        #expect(engine.muteRemoteAudioStream(5, mute: false) == 0)
        #expect(engine.muteAllRemoteAudioStreams(false) == 0)
        #expect(engine.muteRemoteAudioStream(5000, mute: true) == 0)
    }

    @Test func disabledAudioIsNeitherSentNorPlayed() {
        script.join()
        #expect(engine.disableAudio() == 0)
        #expect(engine.muteLocalAudioStream(false) == 0)
        #expect(engine.enableAudio() == 0)
        #expect(script.call.asked == ["start", "local true", "gain - 0.0", "local true", "local false", "gain - 1.0"])
    }

    @Test func volumes() {
        script.join()
        #expect(engine.enableAudioVolumeIndication(1, smooth: 3) == 0)
        #expect(engine.enableAudioVolumeIndication(500, smooth: -1) == 0)
        #expect(engine.enableAudioVolumeIndication(-1, smooth: 3) == 0)
        #expect(engine.adjustRecordingSignalVolume(0) == 0)
        #expect(engine.adjustPlaybackSignalVolume(400) == 0)
        #expect(engine.adjustPlaybackSignalVolume(401) == -2)
        #expect(engine.adjustRecordingSignalVolume(-1) == -2)
        #expect(
            script.call.asked == [
                "start", "volumes 100 3", "volumes 500 1", "volumes 0 3", "gain 0.0 1.0", "gain 0.0 4.0",
            ])
    }

    @Test func theRoute() async {
        #expect(!engine.isSpeakerphoneEnabled())
        #expect(engine.setDefaultAudioRouteToSpeakerphone(true) == 0)
        #expect(engine.isSpeakerphoneEnabled())
        #expect(engine.setEnableSpeakerphone(true) == 0)
        #expect(engine.setEnableSpeakerphone(false) == 0)
        #expect(engine.setDefaultAudioRouteToSpeakerphone(true) == 0)
        #expect(!engine.isSpeakerphoneEnabled())
        script.join()
        await script.settle()
        #expect(script.playback.routes == [true, false, false])
        #expect(app.told.lines.prefix(2) == ["route 3", "route 1"])
    }

    // MARK: - The log

    @Test func theLogHasWhatHappensAndNoKey() throws {
        let path = NSTemporaryDirectory() + "engine-\(UInt64.random(in: 0 ... .max)).log"
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(engine.setLogFile("/nowhere/at/all.log") == -1)
        #expect(engine.setLogFile(nil) == -2)
        #expect(engine.setLogFile(path) == 0)
        engine.joinChannel(byKey: "secret", channelName: "tea", info: nil, uid: 3, joinSuccess: nil)
        script.happens(.joined(uid: 3), .statistics(.after(2)))
        engine.renewChannelKey("secret too")
        engine.enableVideo()
        engine.enableVideo()
        #expect(engine.setLogFilter(0x10) == -2)
        #expect(engine.setLogFilter(0) == 0)
        script.happens(.lost)
        #expect(engine.setLogFilter(0x800) == 0)
        script.happens(.lost, .statistics(.after(4)))
        engine.session.log.flush()
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let texts = lines.map { $0.split(separator: " ", maxSplits: 1)[1] }
        #expect(
            texts == [
                "info joining channel tea as uid 3", "info joined as uid 3",
                "warning enableVideo is not built in this engine", "warning setLogFilter was refused: 2",
                "debug sent 1000 bytes, received 2000, 2 users, 4 s",
            ])
        #expect(lines.allSatisfy { $0.prefix(24).wholeISO })
    }
}

extension Substring {
    /// Whether this is a time as `2017-01-31T23:59:59.999Z`.
    fileprivate var wholeISO: Bool {
        let shape = map { $0.isNumber ? "0" : String($0) }.joined()
        return shape == "0000-00-00T00:00:00.000Z"
    }
}
