// Names, labels and types are those that the Clang importer gives the Objective-C header.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals, AllPublicDeclarationsHaveDocumentation

public import CAgoraRtcCodes
public import Foundation

/// Each spelling calls the next one; the last does nothing.
extension AgoraRtcEngineDelegate {
    public func rtcEngine(_ engine: AgoraRtcEngineKit!, didOccurWarning warningCode: AgoraRtcWarningCode) {
        rtcEngine(engine!, didOccurWarning: warningCode)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, didOccurWarning warningCode: AgoraRtcWarningCode) {
        rtcEngine(engine, didOccurWarning: AgoraRtcErrorCode(rawValue: warningCode.rawValue)!)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, didOccurWarning warningCode: AgoraRtcErrorCode) {
        rtcEngine(engine as AgoraRtcEngineKit?, didOccurWarning: warningCode)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit!, didOccurWarning warningCode: AgoraRtcErrorCode) {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, didOccurError errorCode: AgoraRtcErrorCode) {
        rtcEngine(engine!, didOccurError: errorCode)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, didOccurError errorCode: AgoraRtcErrorCode) {}

    public func rtcEngine(
        _ engine: AgoraRtcEngineKit!, reportAudioVolumeIndicationOfSpeakers speakers: [Any]!, totalVolume: Int
    ) {
        rtcEngine(engine!, reportAudioVolumeIndicationOfSpeakers: speakers!, totalVolume: totalVolume)
    }
    public func rtcEngine(
        _ engine: AgoraRtcEngineKit, reportAudioVolumeIndicationOfSpeakers speakers: [Any], totalVolume: Int
    ) {
        rtcEngine(
            engine, reportAudioVolumeIndicationOfSpeakers: speakers.compactMap { $0 as? AgoraRtcAudioVolumeInfo },
            totalVolume: totalVolume)
    }
    public func rtcEngine(
        _ engine: AgoraRtcEngineKit, reportAudioVolumeIndicationOfSpeakers speakers: [AgoraRtcAudioVolumeInfo],
        totalVolume: Int
    ) {
        rtcEngine(
            engine as AgoraRtcEngineKit?, reportAudioVolumeIndicationOfSpeakers: NSArray(array: speakers) as NSArray?,
            totalVolume: totalVolume)
    }
    public func rtcEngine(
        _ engine: AgoraRtcEngineKit!, reportAudioVolumeIndicationOfSpeakers speakers: NSArray!, totalVolume: Int
    ) {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, firstLocalVideoFrameWith size: CGSize, elapsed: Int) {
        rtcEngine(engine!, firstLocalVideoFrameWith: size, elapsed: elapsed)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, firstLocalVideoFrameWith size: CGSize, elapsed: Int) {}

    public func rtcEngine(
        _ engine: AgoraRtcEngineKit!, firstRemoteVideoDecodedOfUid uid: UInt, size: CGSize, elapsed: Int
    ) {
        rtcEngine(engine!, firstRemoteVideoDecodedOfUid: uid, size: size, elapsed: elapsed)
    }
    public func rtcEngine(
        _ engine: AgoraRtcEngineKit, firstRemoteVideoDecodedOfUid uid: UInt, size: CGSize, elapsed: Int
    ) {}

    public func rtcEngine(
        _ engine: AgoraRtcEngineKit!, firstRemoteVideoFrameOfUid uid: UInt, size: CGSize, elapsed: Int
    ) {
        rtcEngine(engine!, firstRemoteVideoFrameOfUid: uid, size: size, elapsed: elapsed)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, firstRemoteVideoFrameOfUid uid: UInt, size: CGSize, elapsed: Int)
    {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, didJoinedOfUid uid: UInt, elapsed: Int) {
        rtcEngine(engine!, didJoinedOfUid: uid, elapsed: elapsed)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, didJoinedOfUid uid: UInt, elapsed: Int) {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, didOfflineOfUid uid: UInt, reason: AgoraRtcUserOfflineReason) {
        rtcEngine(engine!, didOfflineOfUid: uid, reason: reason)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, didOfflineOfUid uid: UInt, reason: AgoraRtcUserOfflineReason) {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, didAudioMuted muted: Bool, byUid uid: UInt) {
        rtcEngine(engine!, didAudioMuted: muted, byUid: uid)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, didAudioMuted muted: Bool, byUid uid: UInt) {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, didVideoMuted muted: Bool, byUid uid: UInt) {
        rtcEngine(engine!, didVideoMuted: muted, byUid: uid)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, didVideoMuted muted: Bool, byUid uid: UInt) {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, didVideoEnabled enabled: Bool, byUid uid: UInt) {
        rtcEngine(engine!, didVideoEnabled: enabled, byUid: uid)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, didVideoEnabled enabled: Bool, byUid uid: UInt) {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, localVideoStats stats: AgoraRtcLocalVideoStats!) {
        rtcEngine(engine!, localVideoStats: stats!)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, localVideoStats stats: AgoraRtcLocalVideoStats) {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, remoteVideoStats stats: AgoraRtcRemoteVideoStats!) {
        rtcEngine(engine!, remoteVideoStats: stats!)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, remoteVideoStats stats: AgoraRtcRemoteVideoStats) {}

    public func rtcEngine(
        _ engine: AgoraRtcEngineKit!, localVideoStatWithSentBitrate sentBitrate: Int, sentFrameRate: Int
    ) {
        rtcEngine(engine!, localVideoStatWithSentBitrate: sentBitrate, sentFrameRate: sentFrameRate)
    }
    public func rtcEngine(
        _ engine: AgoraRtcEngineKit, localVideoStatWithSentBitrate sentBitrate: Int, sentFrameRate: Int
    ) {}

    public func rtcEngine(
        _ engine: AgoraRtcEngineKit!, remoteVideoStatOfUid uid: UInt, delay: Int, receivedBitrate: Int,
        receivedFrameRate: Int
    ) {
        rtcEngine(
            engine!, remoteVideoStatOfUid: uid, delay: delay, receivedBitrate: receivedBitrate,
            receivedFrameRate: receivedFrameRate)
    }
    public func rtcEngine(
        _ engine: AgoraRtcEngineKit, remoteVideoStatOfUid uid: UInt, delay: Int, receivedBitrate: Int,
        receivedFrameRate: Int
    ) {}

    public func rtcEngineCameraDidReady(_ engine: AgoraRtcEngineKit!) { rtcEngineCameraDidReady(engine!) }
    public func rtcEngineCameraDidReady(_ engine: AgoraRtcEngineKit) {}

    public func rtcEngineVideoDidStop(_ engine: AgoraRtcEngineKit!) { rtcEngineVideoDidStop(engine!) }
    public func rtcEngineVideoDidStop(_ engine: AgoraRtcEngineKit) {}

    public func rtcEngineConnectionDidInterrupted(_ engine: AgoraRtcEngineKit!) {
        rtcEngineConnectionDidInterrupted(engine!)
    }
    public func rtcEngineConnectionDidInterrupted(_ engine: AgoraRtcEngineKit) {}

    public func rtcEngineConnectionDidLost(_ engine: AgoraRtcEngineKit!) { rtcEngineConnectionDidLost(engine!) }
    public func rtcEngineConnectionDidLost(_ engine: AgoraRtcEngineKit) {}

    public func rtcEngine(
        _ engine: AgoraRtcEngineKit!, didJoinChannel channel: String!, withUid uid: UInt, elapsed: Int
    ) {
        rtcEngine(engine!, didJoinChannel: channel!, withUid: uid, elapsed: elapsed)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, didJoinChannel channel: String, withUid uid: UInt, elapsed: Int)
    {}

    public func rtcEngine(
        _ engine: AgoraRtcEngineKit!, didRejoinChannel channel: String!, withUid uid: UInt, elapsed: Int
    ) {
        rtcEngine(engine!, didRejoinChannel: channel!, withUid: uid, elapsed: elapsed)
    }
    public func rtcEngine(
        _ engine: AgoraRtcEngineKit, didRejoinChannel channel: String, withUid uid: UInt, elapsed: Int
    ) {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, report stats: AgoraRtcStats!) {
        rtcEngine(engine!, report: stats!)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, report stats: AgoraRtcStats) {
        rtcEngine(engine, reportRtcStats: stats)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, reportRtcStats stats: AgoraRtcStats) {
        rtcEngine(engine as AgoraRtcEngineKit?, reportRtcStats: stats)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit!, reportRtcStats stats: AgoraRtcStats!) {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, didLeaveChannelWith stats: AgoraRtcStats!) {
        rtcEngine(engine!, didLeaveChannelWith: stats!)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, didLeaveChannelWith stats: AgoraRtcStats) {}

    public func rtcEngine(
        _ engine: AgoraRtcEngineKit!, audioQualityOfUid uid: UInt, quality: AgoraRtcQuality, delay: UInt, lost: UInt
    ) {
        rtcEngine(engine!, audioQualityOfUid: uid, quality: quality, delay: delay, lost: lost)
    }
    public func rtcEngine(
        _ engine: AgoraRtcEngineKit, audioQualityOfUid uid: UInt, quality: AgoraRtcQuality, delay: UInt, lost: UInt
    ) {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, networkQuality quality: AgoraRtcQuality) {
        rtcEngine(engine!, networkQuality: quality)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, networkQuality quality: AgoraRtcQuality) {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, didRefreshRecordingServiceStatus status: Int) {
        rtcEngine(engine!, didRefreshRecordingServiceStatus: status)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, didRefreshRecordingServiceStatus status: Int) {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, didApiCallExecute api: String!, error: Int) {
        rtcEngine(engine!, didApiCallExecute: api!, error: error)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, didApiCallExecute api: String, error: Int) {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, mediaEngineEvent event: Int) {
        rtcEngine(engine!, mediaEngineEvent: event)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, mediaEngineEvent event: Int) {}

    public func rtcEngineRequestChannelKey(_ engine: AgoraRtcEngineKit!) { rtcEngineRequestChannelKey(engine!) }
    public func rtcEngineRequestChannelKey(_ engine: AgoraRtcEngineKit) {}

    public func rtcEngineMediaEngineDidLoaded(_ engine: AgoraRtcEngineKit!) { rtcEngineMediaEngineDidLoaded(engine!) }
    public func rtcEngineMediaEngineDidLoaded(_ engine: AgoraRtcEngineKit) {}

    public func rtcEngineMediaEngineDidStartCall(_ engine: AgoraRtcEngineKit!) {
        rtcEngineMediaEngineDidStartCall(engine!)
    }
    public func rtcEngineMediaEngineDidStartCall(_ engine: AgoraRtcEngineKit) {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, lastmileQuality quality: AgoraRtcQuality) {
        rtcEngine(engine!, lastmileQuality: quality)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, lastmileQuality quality: AgoraRtcQuality) {}

    public func rtcEngine(
        _ engine: AgoraRtcEngineKit!, networkQuality uid: UInt, txQuality: AgoraRtcQuality, rxQuality: AgoraRtcQuality
    ) {
        rtcEngine(engine!, networkQuality: uid, txQuality: txQuality, rxQuality: rxQuality)
    }
    public func rtcEngine(
        _ engine: AgoraRtcEngineKit, networkQuality uid: UInt, txQuality: AgoraRtcQuality, rxQuality: AgoraRtcQuality
    ) {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, firstLocalAudioFrame elapsed: Int) {
        rtcEngine(engine!, firstLocalAudioFrame: elapsed)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, firstLocalAudioFrame elapsed: Int) {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, firstRemoteAudioFrameOfUid uid: UInt, elapsed: Int) {
        rtcEngine(engine!, firstRemoteAudioFrameOfUid: uid, elapsed: elapsed)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, firstRemoteAudioFrameOfUid uid: UInt, elapsed: Int) {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, videoSizeChangedOfUid uid: UInt, size: CGSize, rotation: Int) {
        rtcEngine(engine!, videoSizeChangedOfUid: uid, size: size, rotation: rotation)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, videoSizeChangedOfUid uid: UInt, size: CGSize, rotation: Int) {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, didAudioRouteChanged routing: AgoraRtcAudioOutputRouting) {
        rtcEngine(engine!, didAudioRouteChanged: routing)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, didAudioRouteChanged routing: AgoraRtcAudioOutputRouting) {}

    public func rtcEngine(_ engine: AgoraRtcEngineKit!, activeSpeaker speakerUid: UInt) {
        rtcEngine(engine!, activeSpeaker: speakerUid)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, activeSpeaker speakerUid: UInt) {}

    public func rtcEngine(
        _ engine: AgoraRtcEngineKit!, didClientRoleChanged oldRole: AgoraRtcClientRole, newRole: AgoraRtcClientRole
    ) {
        rtcEngine(engine!, didClientRoleChanged: oldRole, newRole: newRole)
    }
    public func rtcEngine(
        _ engine: AgoraRtcEngineKit, didClientRoleChanged oldRole: AgoraRtcClientRole, newRole: AgoraRtcClientRole
    ) {}

    public func rtcEngine(
        _ engine: AgoraRtcEngineKit!, receiveStreamMessageFromUid uid: UInt, streamId: Int, data: Data!
    ) {
        rtcEngine(engine!, receiveStreamMessageFromUid: uid, streamId: streamId, data: data!)
    }
    public func rtcEngine(_ engine: AgoraRtcEngineKit, receiveStreamMessageFromUid uid: UInt, streamId: Int, data: Data)
    {}

    public func rtcEngine(
        _ engine: AgoraRtcEngineKit!, didOccurStreamMessageErrorFromUid uid: UInt, streamId: Int, error: Int,
        missed: Int, cached: Int
    ) {
        rtcEngine(
            engine!, didOccurStreamMessageErrorFromUid: uid, streamId: streamId, error: error, missed: missed,
            cached: cached)
    }
    public func rtcEngine(
        _ engine: AgoraRtcEngineKit, didOccurStreamMessageErrorFromUid uid: UInt, streamId: Int, error: Int,
        missed: Int, cached: Int
    ) {}

    public func rtcEngine(
        _ engine: AgoraRtcEngineKit!, device deviceId: String!, type deviceType: AgoraRtcDeviceType,
        stateChanged state: Int
    ) {
        rtcEngine(engine!, device: deviceId!, type: deviceType, stateChanged: state)
    }
    public func rtcEngine(
        _ engine: AgoraRtcEngineKit, device deviceId: String, type deviceType: AgoraRtcDeviceType,
        stateChanged state: Int
    ) {}
}
