// Names, labels and types are those that the Clang importer gives the Objective-C header.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

public import CAgoraRtcCodes
public import Foundation

/// What an engine tells its app, on the queue that `enableMainQueueDispatch` says; every method is optional.
///
/// Types decide whether a method of the app is the one that is required, and a near miss would compile and never be
/// called. So each method is required twice: as apps for 1.x spell it, with `!`, and as apps for the annotated headers
/// do, without. The engine calls the first, whose default calls the second, whose default does nothing, or calls a
/// further spelling that apps have used. A block of the engine that is set replaces its method. Source: Native SDK for
/// iOS 1.4, "AgoraRtcEngineDelegate".
public protocol AgoraRtcEngineDelegate: AnyObject {
    /// Something went wrong that the engine tries again by itself.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didOccurWarning warningCode: AgoraRtcWarningCode)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, didOccurWarning warningCode: AgoraRtcWarningCode)
    /// The same, in a further spelling.
    func rtcEngine(_ engine: AgoraRtcEngineKit, didOccurWarning warningCode: AgoraRtcErrorCode)
    /// The same, in a further spelling.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didOccurWarning warningCode: AgoraRtcErrorCode)

    /// Something went wrong that needs the app. An error that ends a call leaves the engine waiting for
    /// `leaveChannel`.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didOccurError errorCode: AgoraRtcErrorCode)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, didOccurError errorCode: AgoraRtcErrorCode)

    /// How loud the users are, asked for by `enableAudioVolumeIndication`: `AgoraRtcAudioVolumeInfo`s, the loudest
    /// first, and the volume of all together, 0...255.
    func rtcEngine(
        _ engine: AgoraRtcEngineKit!, reportAudioVolumeIndicationOfSpeakers speakers: [Any]!, totalVolume: Int
    )
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, reportAudioVolumeIndicationOfSpeakers speakers: [Any], totalVolume: Int)
    /// The same, in a further spelling.
    func rtcEngine(
        _ engine: AgoraRtcEngineKit, reportAudioVolumeIndicationOfSpeakers speakers: [AgoraRtcAudioVolumeInfo],
        totalVolume: Int
    )
    /// The same, in a further spelling.
    func rtcEngine(
        _ engine: AgoraRtcEngineKit!, reportAudioVolumeIndicationOfSpeakers speakers: NSArray!, totalVolume: Int
    )

    /// Not called: no video is built.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, firstLocalVideoFrameWith size: CGSize, elapsed: Int)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, firstLocalVideoFrameWith size: CGSize, elapsed: Int)

    /// Not called: no video is built.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, firstRemoteVideoDecodedOfUid uid: UInt, size: CGSize, elapsed: Int)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, firstRemoteVideoDecodedOfUid uid: UInt, size: CGSize, elapsed: Int)

    /// Not called: no video is built.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, firstRemoteVideoFrameOfUid uid: UInt, size: CGSize, elapsed: Int)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, firstRemoteVideoFrameOfUid uid: UInt, size: CGSize, elapsed: Int)

    /// Another user is in the channel; `elapsed` is in ms since the join was asked for.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didJoinedOfUid uid: UInt, elapsed: Int)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, didJoinedOfUid uid: UInt, elapsed: Int)

    /// Another user is gone.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didOfflineOfUid uid: UInt, reason: AgoraRtcUserOfflineReason)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, didOfflineOfUid uid: UInt, reason: AgoraRtcUserOfflineReason)

    /// Another user does (not) send audio any more.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didAudioMuted muted: Bool, byUid uid: UInt)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, didAudioMuted muted: Bool, byUid uid: UInt)

    /// Another user does (not) send video any more.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didVideoMuted muted: Bool, byUid uid: UInt)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, didVideoMuted muted: Bool, byUid uid: UInt)

    /// Another user has turned its video on or off.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didVideoEnabled enabled: Bool, byUid uid: UInt)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, didVideoEnabled enabled: Bool, byUid uid: UInt)

    /// Not called: no video is built.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, localVideoStats stats: AgoraRtcLocalVideoStats!)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, localVideoStats stats: AgoraRtcLocalVideoStats)

    /// Not called: no video is built.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, remoteVideoStats stats: AgoraRtcRemoteVideoStats!)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, remoteVideoStats stats: AgoraRtcRemoteVideoStats)

    /// Not called: no video is built.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, localVideoStatWithSentBitrate sentBitrate: Int, sentFrameRate: Int)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, localVideoStatWithSentBitrate sentBitrate: Int, sentFrameRate: Int)

    /// Not called: no video is built.
    func rtcEngine(
        _ engine: AgoraRtcEngineKit!, remoteVideoStatOfUid uid: UInt, delay: Int, receivedBitrate: Int,
        receivedFrameRate: Int
    )
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(
        _ engine: AgoraRtcEngineKit, remoteVideoStatOfUid uid: UInt, delay: Int, receivedBitrate: Int,
        receivedFrameRate: Int
    )

    /// Not called: no video is built.
    func rtcEngineCameraDidReady(_ engine: AgoraRtcEngineKit!)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngineCameraDidReady(_ engine: AgoraRtcEngineKit)

    /// Not called: no video is built.
    func rtcEngineVideoDidStop(_ engine: AgoraRtcEngineKit!)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngineVideoDidStop(_ engine: AgoraRtcEngineKit)

    /// Nothing has come from the cluster for 3 s; the engine tries to come back until `leaveChannel`.
    func rtcEngineConnectionDidInterrupted(_ engine: AgoraRtcEngineKit!)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngineConnectionDidInterrupted(_ engine: AgoraRtcEngineKit)

    /// Nothing for 10 s after the interruption; told once. The engine goes on trying.
    func rtcEngineConnectionDidLost(_ engine: AgoraRtcEngineKit!)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngineConnectionDidLost(_ engine: AgoraRtcEngineKit)

    /// The user is in the channel, under that uid, so many ms after the join was asked for.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didJoinChannel channel: String!, withUid uid: UInt, elapsed: Int)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, didJoinChannel channel: String, withUid uid: UInt, elapsed: Int)

    /// The connection is back, under the same uid, so many ms after the interruption.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didRejoinChannel channel: String!, withUid uid: UInt, elapsed: Int)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, didRejoinChannel channel: String, withUid uid: UInt, elapsed: Int)

    /// What was sent and received; every two seconds.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, report stats: AgoraRtcStats!)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, report stats: AgoraRtcStats)
    /// The same, in a further spelling.
    func rtcEngine(_ engine: AgoraRtcEngineKit, reportRtcStats stats: AgoraRtcStats)
    /// The same, in a further spelling.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, reportRtcStats stats: AgoraRtcStats!)

    /// The user has left the channel; the last callback of a call.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didLeaveChannelWith stats: AgoraRtcStats!)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, didLeaveChannelWith stats: AgoraRtcStats)

    /// How another user is heard: from mouth to ear in ms, and the loss in percent; every two seconds.
    func rtcEngine(
        _ engine: AgoraRtcEngineKit!, audioQualityOfUid uid: UInt, quality: AgoraRtcQuality, delay: UInt, lost: UInt
    )
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(
        _ engine: AgoraRtcEngineKit, audioQualityOfUid uid: UInt, quality: AgoraRtcQuality, delay: UInt, lost: UInt
    )

    /// Not called: the network test is not built.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, networkQuality quality: AgoraRtcQuality)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, networkQuality quality: AgoraRtcQuality)

    /// Not called: the cluster does not record.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didRefreshRecordingServiceStatus status: Int)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, didRefreshRecordingServiceStatus status: Int)

    /// Not called: the cluster does not record.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didApiCallExecute api: String!, error: Int)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, didApiCallExecute api: String, error: Int)

    /// Not called.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, mediaEngineEvent event: Int)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, mediaEngineEvent event: Int)

    /// The key has expired or was refused: the engine needs another one by `renewChannelKey`.
    func rtcEngineRequestChannelKey(_ engine: AgoraRtcEngineKit!)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngineRequestChannelKey(_ engine: AgoraRtcEngineKit)

    /// A join was accepted, and the devices are being started.
    func rtcEngineMediaEngineDidLoaded(_ engine: AgoraRtcEngineKit!)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngineMediaEngineDidLoaded(_ engine: AgoraRtcEngineKit)

    /// Audio flows: the user is in the channel.
    func rtcEngineMediaEngineDidStartCall(_ engine: AgoraRtcEngineKit!)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngineMediaEngineDidStartCall(_ engine: AgoraRtcEngineKit)

    /// Not called: the network test is not built.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, lastmileQuality quality: AgoraRtcQuality)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, lastmileQuality quality: AgoraRtcQuality)

    /// Not called: the network test is not built.
    func rtcEngine(
        _ engine: AgoraRtcEngineKit!, networkQuality uid: UInt, txQuality: AgoraRtcQuality, rxQuality: AgoraRtcQuality
    )
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(
        _ engine: AgoraRtcEngineKit, networkQuality uid: UInt, txQuality: AgoraRtcQuality, rxQuality: AgoraRtcQuality
    )

    /// Not called: the first frame is not told by `MediaClient`.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, firstLocalAudioFrame elapsed: Int)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, firstLocalAudioFrame elapsed: Int)

    /// Not called: the first frame is not told by `MediaClient`.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, firstRemoteAudioFrameOfUid uid: UInt, elapsed: Int)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, firstRemoteAudioFrameOfUid uid: UInt, elapsed: Int)

    /// Not called: no video is built.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, videoSizeChangedOfUid uid: UInt, size: CGSize, rotation: Int)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, videoSizeChangedOfUid uid: UInt, size: CGSize, rotation: Int)

    /// The playback device was told to play by the loudspeaker, or by the ear piece.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didAudioRouteChanged routing: AgoraRtcAudioOutputRouting)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, didAudioRouteChanged routing: AgoraRtcAudioOutputRouting)

    /// Another user is now the loudest; only with `enableAudioVolumeIndication`.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, activeSpeaker speakerUid: UInt)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, activeSpeaker speakerUid: UInt)

    /// Not called: roles are not built.
    func rtcEngine(
        _ engine: AgoraRtcEngineKit!, didClientRoleChanged oldRole: AgoraRtcClientRole, newRole: AgoraRtcClientRole
    )
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(
        _ engine: AgoraRtcEngineKit, didClientRoleChanged oldRole: AgoraRtcClientRole, newRole: AgoraRtcClientRole
    )

    /// Not called: data streams are not built.
    func rtcEngine(_ engine: AgoraRtcEngineKit!, receiveStreamMessageFromUid uid: UInt, streamId: Int, data: Data!)
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(_ engine: AgoraRtcEngineKit, receiveStreamMessageFromUid uid: UInt, streamId: Int, data: Data)

    /// Not called: data streams are not built.
    func rtcEngine(
        _ engine: AgoraRtcEngineKit!, didOccurStreamMessageErrorFromUid uid: UInt, streamId: Int, error: Int,
        missed: Int, cached: Int
    )
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(
        _ engine: AgoraRtcEngineKit, didOccurStreamMessageErrorFromUid uid: UInt, streamId: Int, error: Int,
        missed: Int, cached: Int
    )

    /// Not called: devices do not change.
    func rtcEngine(
        _ engine: AgoraRtcEngineKit!, device deviceId: String!, type deviceType: AgoraRtcDeviceType,
        stateChanged state: Int
    )
    /// The same, as apps for the annotated headers spell it.
    func rtcEngine(
        _ engine: AgoraRtcEngineKit, device deviceId: String, type deviceType: AgoraRtcDeviceType,
        stateChanged state: Int
    )
}
