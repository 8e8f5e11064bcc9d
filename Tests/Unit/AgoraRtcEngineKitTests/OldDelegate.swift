// Spellings of public apps for 1.x.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

import AgoraRtcEngineKit

/// Writes down what it is told, as an app for 1.x spells the methods.
final class OldDelegate: NSObject, AgoraRtcEngineDelegate {
    let told = Told()

    func rtcEngine(_ engine: AgoraRtcEngineKit!, didOccurWarning warningCode: AgoraRtcWarningCode) {
        told.write("warning \(warningCode.rawValue)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didOccurError errorCode: AgoraRtcErrorCode) {
        told.write("error \(errorCode.rawValue)")
    }
    func rtcEngine(
        _ engine: AgoraRtcEngineKit!, reportAudioVolumeIndicationOfSpeakers speakers: [Any]!, totalVolume: Int
    ) {
        let volumes = speakers!.map { $0 as! AgoraRtcAudioVolumeInfo }.map { "\($0.uid):\($0.volume)" }
        told.write("volumes \(volumes.joined(separator: ",")) \(totalVolume)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didJoinedOfUid uid: UInt, elapsed: Int) {
        told.write("user \(uid) \(elapsed)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didOfflineOfUid uid: UInt, reason: AgoraRtcUserOfflineReason) {
        told.write("offline \(uid) \(reason.rawValue)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didAudioMuted muted: Bool, byUid: UInt) {
        told.write("audio muted \(muted) \(byUid)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didVideoMuted muted: Bool, byUid: UInt) {
        told.write("video muted \(muted) \(byUid)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didVideoEnabled enabled: Bool, byUid uid: UInt) {
        told.write("video enabled \(enabled) \(uid)")
    }
    func rtcEngineConnectionDidInterrupted(_ engine: AgoraRtcEngineKit!) { told.write("interrupted") }
    func rtcEngineConnectionDidLost(_ engine: AgoraRtcEngineKit!) { told.write("lost") }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didJoinChannel channel: String!, withUid uid: UInt, elapsed: Int) {
        told.write("joined \(channel!) \(uid) \(elapsed)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didRejoinChannel channel: String!, withUid uid: UInt, elapsed: Int) {
        told.write("rejoined \(channel!) \(uid) \(elapsed)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, report stats: AgoraRtcStats!) {
        told.write("stats \(stats.duration) \(stats.txBytes) \(stats.rxBytes) \(stats.users)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didLeaveChannelWith stats: AgoraRtcStats!) {
        told.write("left \(stats.duration)")
    }
    func rtcEngine(
        _ engine: AgoraRtcEngineKit!, audioQualityOfUid uid: UInt, quality: AgoraRtcQuality, delay: UInt, lost: UInt
    ) {
        told.write("quality \(uid) \(quality.rawValue) \(delay) \(lost)")
    }
    func rtcEngineRequestChannelKey(_ engine: AgoraRtcEngineKit!) { told.write("request key") }
    func rtcEngineMediaEngineDidLoaded(_ engine: AgoraRtcEngineKit!) { told.write("loaded") }
    func rtcEngineMediaEngineDidStartCall(_ engine: AgoraRtcEngineKit!) { told.write("started") }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didAudioRouteChanged routing: AgoraRtcAudioOutputRouting) {
        told.write("route \(routing.rawValue)")
    }
    func rtcEngine(_ engine: AgoraRtcEngineKit!, activeSpeaker speakerUid: UInt) { told.write("active \(speakerUid)") }
}
