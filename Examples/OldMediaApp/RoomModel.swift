// The model of a room, as apps for the later headers wrote it: new keys, app ids, and quality.
import AgoraRtcEngineKit

/// Talks to the engine for a room with a channel key.
final class RoomModel: AgoraRtcEngineDelegate {
    private(set) var engine: AgoraRtcEngineKit?
    private var quality = [UInt: AgoraRtcQuality]()
    var fetchKey: ((_ done: @escaping (String) -> Void) -> Void)?

    func enter(_ room: String, appId: String, key: String, uid: UInt) -> Bool {
        let engine: AgoraRtcEngineKit = AgoraRtcEngineKit.sharedEngine(withAppId: appId, delegate: self)
        self.engine = engine
        engine.setDefaultAudioRouteToSpeakerphone(true)
        engine.adjustRecordingSignalVolume(150)
        engine.enableMainQueueDispatch(true)
        return engine.joinChannel(byKey: key, channelName: room, info: nil, uid: uid, joinSuccess: nil) == 0
    }

    func exit() { engine?.leaveChannel(nil) }

    func rtcEngine(_ engine: AgoraRtcEngineKit, didJoinChannel channel: String, withUid uid: UInt, elapsed: Int) {
        print("in \(channel) as \(uid), call \(engine.getCallId() ?? "")")
    }

    func rtcEngine(_ engine: AgoraRtcEngineKit, didOccurError errorCode: AgoraRtcErrorCode) {
        print("error \(errorCode.rawValue)")
    }

    func rtcEngineRequestChannelKey(_ engine: AgoraRtcEngineKit) {
        fetchKey? { [weak self] key in self?.engine?.renewChannelKey(key) }
    }

    func rtcEngine(
        _ engine: AgoraRtcEngineKit, audioQualityOfUid uid: UInt, quality: AgoraRtcQuality, delay: UInt, lost: UInt
    ) {
        self.quality[uid] = quality
        print("hears \(uid): quality \(quality.rawValue), \(delay) ms, \(lost) % lost")
    }

    func rtcEngine(_ engine: AgoraRtcEngineKit, didLeaveChannelWith stats: AgoraRtcStats) {
        print("\(stats.duration) s, \(stats.rxBytes) bytes received, call over")
        AgoraRtcEngineKit.destroy()
    }
}
