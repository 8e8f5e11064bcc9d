internal import CAgoraRtcCodes
internal import MediaClient

/// Turns an event into callbacks.
extension MediaEvent {
    /// What the callbacks of an event depend on besides it.
    struct Moment {
        var channel: String
        /// Milliseconds since the join was asked for; of a rejoin since the interruption.
        var elapsed: Int
        var joinSuccess: CallBlock<EngineSession.JoinBlock>?
        /// Another user who is the loudest now.
        var activeSpeaker: UInt32?
    }

    /// The callbacks to call, in order.
    func callbacks(_ moment: Moment) -> [EngineCallbacks.Callback] {
        switch self {
        case .joined(let uid): Self.joined(UInt(uid), moment)
        case .userJoined(let user): Self.userJoined(user, moment.elapsed)
        case .userLeft(let uid, let reason): [Self.left(UInt(uid), reason)]
        case .audioMuted(let uid, let isMuted): [Self.audioMuted(UInt(uid), isMuted)]
        case .videoMuted(let uid, let isMuted): [Self.videoMuted(UInt(uid), isMuted)]
        case .videoEnabled(let uid, let isEnabled):
            [{ $0.delegate?.rtcEngine($0.engine, didVideoEnabled: isEnabled, byUid: UInt(uid)) }]
        case .volumes(let volumes): Self.volumes(volumes, moment.activeSpeaker)
        case .statistics(let statistics): Self.report(statistics)
        case .interrupted: [{ $0.delegate?.rtcEngineConnectionDidInterrupted($0.engine) }]
        case .lost:
            [
                { receiver in
                    if let block = receiver.blocks.connectionLost { return block() }
                    receiver.delegate?.rtcEngineConnectionDidLost(receiver.engine)
                }
            ]
        case .rejoined(let uid): [Self.rejoined(UInt(uid), moment)]
        case .warning(let error): [Self.warning(error.warningCode)]
        case .keyExpired: Self.error(.error_DynamicKeyTimeout)
        case .keyRenewed: []
        case .keyRefused(let error): Self.error(error.engineCode)
        case .deviceFailed(let device, let failure): Self.error(failure.engineCode(of: device))
        case .ended(let error, _): error.map { Self.error($0.engineCode) } ?? []
        }
    }

    private static func joined(_ uid: UInt, _ moment: Moment) -> [EngineCallbacks.Callback] {
        let (channel, elapsed, joinSuccess) = (moment.channel, moment.elapsed, moment.joinSuccess)
        return [
            { $0.delegate?.rtcEngineMediaEngineDidStartCall($0.engine) },
            { receiver in
                if let joinSuccess { return joinSuccess.body(channel, uid, elapsed) }
                receiver.delegate?.rtcEngine(receiver.engine, didJoinChannel: channel, withUid: uid, elapsed: elapsed)
            },
        ]
    }

    private static func rejoined(_ uid: UInt, _ moment: Moment) -> EngineCallbacks.Callback {
        let (channel, elapsed) = (moment.channel, moment.elapsed)
        return { receiver in
            if let block = receiver.blocks.rejoinChannelSuccess { return block(channel, uid, elapsed) }
            receiver.delegate?.rtcEngine(receiver.engine, didRejoinChannel: channel, withUid: uid, elapsed: elapsed)
        }
    }

    private static func userJoined(_ user: MediaUser, _ elapsed: Int) -> [EngineCallbacks.Callback] {
        let uid = UInt(user.uid)
        var told: [EngineCallbacks.Callback] = [
            { receiver in
                if let block = receiver.blocks.userJoined { return block(uid, elapsed) }
                receiver.delegate?.rtcEngine(receiver.engine, didJoinedOfUid: uid, elapsed: elapsed)
            }
        ]
        if user.isAudioMuted { told.append(audioMuted(uid, true)) }
        if user.isVideoMuted { told.append(videoMuted(uid, true)) }
        if user.hasVideo { told.append { $0.delegate?.rtcEngine($0.engine, didVideoEnabled: true, byUid: uid) } }
        return told
    }

    private static func left(_ uid: UInt, _ reason: MediaLeaveReason) -> EngineCallbacks.Callback {
        let reason: AgoraRtcUserOfflineReason =
            switch reason {
            case .quit: .userOffline_Quit
            case .dropped: .userOffline_Dropped
            }
        return { receiver in
            if let block = receiver.blocks.userOffline { return block(uid) }
            receiver.delegate?.rtcEngine(receiver.engine, didOfflineOfUid: uid, reason: reason)
        }
    }

    private static func audioMuted(_ uid: UInt, _ isMuted: Bool) -> EngineCallbacks.Callback {
        { receiver in
            if let block = receiver.blocks.userMuteAudio { return block(uid, isMuted) }
            receiver.delegate?.rtcEngine(receiver.engine, didAudioMuted: isMuted, byUid: uid)
        }
    }

    private static func videoMuted(_ uid: UInt, _ isMuted: Bool) -> EngineCallbacks.Callback {
        { receiver in
            if let block = receiver.blocks.userMuteVideo { return block(uid, isMuted) }
            receiver.delegate?.rtcEngine(receiver.engine, didVideoMuted: isMuted, byUid: uid)
        }
    }

    private static func volumes(_ volumes: MediaVolumes, _ activeSpeaker: UInt32?) -> [EngineCallbacks.Callback] {
        let report: EngineCallbacks.Callback = { receiver in
            let speakers: [Any] = volumes.speakers.map { AgoraRtcAudioVolumeInfo($0) }
            if let block = receiver.blocks.audioVolumeIndication { return block(speakers, volumes.total) }
            receiver.delegate?.rtcEngine(
                receiver.engine, reportAudioVolumeIndicationOfSpeakers: speakers as [Any]?, totalVolume: volumes.total)
        }
        guard let activeSpeaker else { return [report] }
        return [report, { $0.delegate?.rtcEngine($0.engine, activeSpeaker: UInt(activeSpeaker)) }]
    }

    private static func report(_ statistics: MediaStatistics) -> [EngineCallbacks.Callback] {
        let report: EngineCallbacks.Callback = { receiver in
            let stats = AgoraRtcStats(statistics)
            if let block = receiver.blocks.rtcStats { return block(stats) }
            receiver.delegate?.rtcEngine(receiver.engine, report: stats as AgoraRtcStats?)
        }
        return [report] + statistics.audio.map(quality)
    }

    private static func quality(_ audio: MediaStatistics.Audio) -> EngineCallbacks.Callback {
        { receiver in
            let quality = AgoraRtcQuality(rawValue: UInt(clamping: audio.quality)) ?? .quality_Unknown
            let (uid, delay, lost) = (UInt(audio.uid), UInt(clamping: audio.delay), UInt(clamping: audio.lost))
            if let block = receiver.blocks.audioQuality { return block(uid, quality, delay, lost) }
            receiver.delegate?.rtcEngine(
                receiver.engine, audioQualityOfUid: uid, quality: quality, delay: delay, lost: lost)
        }
    }

    private static func warning(_ code: AgoraRtcWarningCode) -> EngineCallbacks.Callback {
        { $0.delegate?.rtcEngine($0.engine, didOccurWarning: code) }
    }

    private static func error(_ code: AgoraRtcErrorCode) -> [EngineCallbacks.Callback] {
        let told: EngineCallbacks.Callback = { receiver in
            if let block = receiver.blocks.error { return block(code) }
            receiver.delegate?.rtcEngine(receiver.engine, didOccurError: code)
        }
        guard code == .error_DynamicKeyTimeout || code == .error_InvalidDynamicKey else { return [told] }
        return [told, { $0.delegate?.rtcEngineRequestChannelKey($0.engine) }]
    }
}

extension DeviceFailure {
    /// The old framework's code for the failure of that device.
    fileprivate func engineCode(of device: MediaDevice) -> AgoraRtcErrorCode {
        switch (cause, device) {
        case (.permission, _): .error_NoPermission
        case (.sampleRate, _): .error_Adm_SampleRate
        case (.preparation, .capture): .error_Adm_InitRecording
        case (.preparation, .playback): .error_Adm_InitPlayout
        case (.start, .capture): .error_Adm_StartRecording
        case (.start, .playback): .error_Adm_StartPlayout
        case (.running, .capture): .error_Adm_RuntimeRecordingError
        case (.standstill, .capture): .error_Adm_RecordAudioFailed
        case (.running, .playback), (.standstill, .playback): .error_Adm_RuntimePlayoutError
        }
    }
}

extension MediaError {
    /// The code in the old framework's type.
    fileprivate var engineCode: AgoraRtcErrorCode { AgoraRtcErrorCode(rawValue: code) ?? .error_Failed }

    /// The warnings of the way into a channel: no media node, no gateway, no path, and so on.
    private static let joinWarnings = 103...108
    /// The warnings about devices: late, silent, with a wrong clock.
    private static let deviceWarnings: Set = [1014, 1016, 1019, 1020, 1021]

    /// The warning for what the client tries again by itself.
    fileprivate var warningCode: AgoraRtcWarningCode {
        let warning = AgoraRtcWarningCode(rawValue: code)
        switch (engineCode, warning) {
        // What the SDK's documents call these errors while a channel is being looked for.
        case (.error_TooOften, _): return .warn_RequestDeferred
        case (.error_TimedOut, _): return .warn_LookupChannelTimeout
        case (_, let warning?) where Self.joinWarnings.contains(code) || Self.deviceWarnings.contains(code):
            return warning
        default: return .warn_LookupChannelRejected
        }
    }
}
