// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

// A screen of an app for the old media framework, in the Swift of its time: a voice call with the buttons that all had.
import AgoraRtcEngineKit

/// What stands for a label, so that the example needs no UIKit: it shows its text as a line of the output.
class Label {
    let name: String
    var isHidden = false
    var text: String? {
        didSet { print("\(name): \(text ?? "")") }
    }

    init(_ name: String) { self.name = name }
}

/// A screen with a voice call.
class CallController: NSObject {
    var agoraKit: AgoraRtcEngineKit!
    var appID = "0123456789abcdef0123456789abcdef"
    var channel = "room 1"
    var users = [UInt]() {
        didSet { usersLabel.text = users.map { String($0) }.joined(separator: ", ") }
    }
    var lastStat: AgoraRtcStats?
    let durationLabel = Label("duration")
    let speedLabel = Label("speed")
    let volumeLabel = Label("volume")
    let usersLabel = Label("users")
    let hintLabel = Label("hint")
    var closed: (() -> Void)?

    func viewDidLoad() {
        agoraKit = AgoraRtcEngineKit.sharedEngine(withVendorKey: appID, delegate: self)
        print("media engine " + AgoraRtcEngineKit.getSdkVersion())
        agoraKit.setLogFile(NSTemporaryDirectory() + "call.log")
        agoraKit.setLogFilter(AgoraRtcLogFilter.logFilter_Info.rawValue | AgoraRtcLogFilter.logFilter_Error.rawValue)
        agoraKit.setChannelProfile(.channelProfile_Communication)
        agoraKit.disableVideo()
        agoraKit.enableAudioVolumeIndication(1000, smooth: 3)
        setUpBlocks()
        join(channel: channel)
    }

    func join(channel: String) {
        let code = agoraKit.joinChannel(byKey: nil, channelName: channel, info: nil, uid: 0) {
            [weak self] (sid, uid, elapsed) -> Void in
            self?.agoraKit.setEnableSpeakerphone(true)
            self?.hintLabel.text = "joined \(sid ?? "") as \(uid) in \(elapsed) ms"
        }
        if code != 0 {
            DispatchQueue.main.async(execute: { self.hintLabel.text = "join failed: \(code)" })
        }
    }

    func setUpBlocks() {
        agoraKit.rejoinChannelSuccessBlock { [weak self] (channel, uid, elapsed) in
            self?.hintLabel.isHidden = true
        }
        agoraKit.networkQualityBlock { quality in
            if quality == .quality_Down { print("no network") }
        }
    }

    func muteTapped(_ on: Bool) { agoraKit.muteLocalAudioStream(on) }

    func speakerTapped() { agoraKit.setEnableSpeakerphone(!agoraKit.isSpeakerphoneEnabled()) }

    func muteTapped(_ uid: UInt, _ on: Bool) { agoraKit.muteRemoteAudioStream(uid, mute: on) }

    func cameraTapped() {
        let canvas = AgoraRtcVideoCanvas()
        canvas.uid = 0
        canvas.renderMode = .render_Hidden
        if agoraKit.setupLocalVideo(canvas) < 0 || agoraKit.enableVideo() < 0 { hintLabel.text = "voice only" }
    }

    func hangUp() {
        agoraKit.leaveChannel { [weak self] (stat: AgoraRtcStats?) in
            if let stat = stat { self?.durationLabel.text = "\(stat.duration) s" }
            self?.closed?()
        }
        agoraKit = nil
    }
}

extension CallController: AgoraRtcEngineDelegate {
    func rtcEngine(_ engine: AgoraRtcEngineKit!, didOccurError errorCode: AgoraRtcErrorCode) {
        switch errorCode {
        case .error_InvalidAppId:
            agoraKit.leaveChannel(nil)
            hintLabel.text = "wrong app id"
        case .error_DynamicKeyTimeout, .error_InvalidChannelKey:
            agoraKit.renewChannelDynamicKey("a new key of the app's server")
        default:
            hintLabel.text = "error \(errorCode.rawValue)"
        }
    }

    func rtcEngine(_ engine: AgoraRtcEngineKit!, didOccurWarning warningCode: AgoraRtcWarningCode) {
        print("warning: \(warningCode.rawValue)")
    }

    func rtcEngine(_ engine: AgoraRtcEngineKit!, didJoinedOfUid uid: UInt, elapsed: Int) { users.append(uid) }

    func rtcEngine(_ engine: AgoraRtcEngineKit!, didOfflineOfUid uid: UInt, reason: AgoraRtcUserOfflineReason) {
        if let index = users.firstIndex(where: { $0 == uid }) { users.remove(at: index) }
        hintLabel.text = "\(uid) " + (reason == .userOffline_Dropped ? "was lost" : "left")
    }

    func rtcEngine(_ engine: AgoraRtcEngineKit!, didAudioMuted muted: Bool, byUid uid: UInt) {
        hintLabel.text = "\(uid) " + (muted ? "is muted" : "talks")
    }

    func rtcEngine(
        _ engine: AgoraRtcEngineKit!, reportAudioVolumeIndicationOfSpeakers speakers: [Any]!, totalVolume: Int
    ) {
        guard let infos = speakers as? [AgoraRtcAudioVolumeInfo] else { return }
        volumeLabel.text = infos.map { "\($0.uid): \($0.volume)" }.joined(separator: ", ")
    }

    func rtcEngine(_ engine: AgoraRtcEngineKit!, report stats: AgoraRtcStats!) {
        durationLabel.text = String(format: "%02d:%02d", Int(stats.duration) / 60, Int(stats.duration) % 60)
        if let last = lastStat {
            let bytes = stats.txBytes + stats.rxBytes - last.txBytes - last.rxBytes
            speedLabel.text = "\(bytes / 1024 / (stats.duration - last.duration)) KB/s"
        }
        lastStat = stats
    }

    func rtcEngineConnectionDidInterrupted(_ engine: AgoraRtcEngineKit!) { hintLabel.text = "interrupted" }

    func rtcEngineConnectionDidLost(_ engine: AgoraRtcEngineKit!) { hintLabel.text = "connection lost" }

    func rtcEngine(_ engine: AgoraRtcEngineKit!, firstRemoteVideoDecodedOfUid uid: UInt, size: CGSize, elapsed: Int) {
        let canvas = AgoraRtcVideoCanvas()
        canvas.uid = uid
        engine.setupRemoteVideo(canvas)
    }
}
