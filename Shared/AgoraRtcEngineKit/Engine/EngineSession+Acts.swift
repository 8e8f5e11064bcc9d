internal import CAgoraRtcCodes
internal import MediaClient

/// The methods of ``AgoraRtcEngineKit`` that a call works by.
extension EngineSession {
    func renew(_ name: String, _ key: String) -> Int32 {
        act(name) { state in
            switch state.phase {
            case .out, .leaving, .failed: return .error_NotReady
            case .joining, .inside: break
            }
            guard !key.isEmpty else { return .error_InvalidArgument }
            state.call?.renew(key: key)
            return .error_NoError
        }
    }

    // MARK: - Mutes

    func muteLocal(_ isMuted: Bool) -> Int32 {
        set("muteLocalAudioStream") { settings, call in
            settings.isMuted = isMuted
            call?.muteLocalAudio(settings.sendsNothing)
        }
    }

    func muteAllRemote(_ isMuted: Bool) -> Int32 {
        set("muteAllRemoteAudioStreams") { settings, call in
            settings.muteAllRemote(isMuted)
            call?.muteAllRemoteAudio(isMuted)
        }
    }

    func muteRemote(_ uid: UInt, _ isMuted: Bool) -> Int32 {
        act("muteRemoteAudioStream") { state in
            guard let uid = UInt32(exactly: uid), uid != 0 else { return .error_InvalidArgument }
            // A call keeps these itself, also for users who are yet to come.
            if let call = state.runningCall {
                call.muteRemoteAudio(isMuted, uid: uid)
                return .error_NoError
            }
            return state.settings.muteRemote(isMuted, uid: uid) ? .error_NoError : .error_Refused
        }
    }

    func enableAudio(_ isEnabled: Bool) -> Int32 {
        set(isEnabled ? "enableAudio" : "disableAudio") { settings, call in
            settings.isAudioEnabled = isEnabled
            call?.muteLocalAudio(settings.sendsNothing)
            call?.setGain(capture: nil, playback: settings.effectivePlaybackGain)
        }
    }

    // MARK: - Volumes

    func reportVolumes(_ interval: Int, _ smooth: Int) -> Int32 {
        set("enableAudioVolumeIndication") { settings, call in
            settings.volumeInterval = interval <= 0 ? 0 : max(interval, 100)
            settings.volumeSmooth = max(smooth, 1)
            call?.reportVolumes(everyMilliseconds: settings.volumeInterval, smooth: settings.volumeSmooth)
        }
    }

    /// Sets a gain in percent.
    func setGain(_ name: String, _ path: WritableKeyPath<EngineSettings, Double>, _ percent: Int) -> Int32 {
        act(name) { state in
            guard (0...400).contains(percent) else { return .error_InvalidArgument }
            state.settings[keyPath: path] = Double(percent) / 100
            state.runningCall?.setGain(
                capture: state.settings.captureGain, playback: state.settings.effectivePlaybackGain)
            return .error_NoError
        }
    }

    // MARK: - The route

    /// Changes what the route depends on; the device and the app are told when it is another one.
    func setSpeaker(_ name: String, _ change: (inout EngineSettings) -> Void) -> Int32 {
        var changed: Bool?
        let code = act(name) { state in
            let before = state.settings.isSpeaker
            change(&state.settings)
            let isSpeaker = state.settings.isSpeaker
            guard isSpeaker != before else { return .error_NoError }
            changed = isSpeaker
            let route: AgoraRtcAudioOutputRouting =
                isSpeaker ? .audioOutputRouting_Speakerphone : .audioOutputRouting_Earpiece
            callbacks.tell([{ $0.delegate?.rtcEngine($0.engine, didAudioRouteChanged: route) }])
            return .error_NoError
        }
        // The device is the app's: it is called without the lock.
        if let changed { surroundings.devices.playback.route(speaker: changed) }
        return code
    }

    // MARK: - Engine

    func setLogFile(_ path: String) -> Int32 {
        act("setLogFile") { _ in
            guard !path.isEmpty else { return .error_InvalidArgument }
            return log.open(path) ? .error_NoError : .error_Failed
        }
    }

    /// Refuses an opinion of a call: the cluster keeps none yet.
    func refuseOpinion(_ name: String, _ callID: String, rating: Int, _ description: String) -> Int32 {
        // The documents give this method another code for a destroyed engine.
        guard !read({ $0.isDestroyed }) else { return -Int32(AgoraRtcErrorCode.error_NotReady.rawValue) }
        return refuse(name) { _ in
            let isCallID = callID.utf8.count == 32 && callID.allSatisfy { "0123456789abcdef".contains($0) }
            guard isCallID, (1...10).contains(rating), description.utf8.count <= Self.opinionBytes else {
                return .error_InvalidArgument
            }
            return nil
        }
    }

    /// The largest number of bytes of an opinion's text.
    static let opinionBytes = 799

    /// The setting is kept for the calls to come, and told to the one that runs.
    private func set(_ name: String, _ body: (inout EngineSettings, (any MediaCall)?) -> Void) -> Int32 {
        act(name) { state in
            body(&state.settings, state.runningCall)
            return .error_NoError
        }
    }
}

extension EngineSession.State {
    /// The call that takes what the app asks for; nil when it is over, or the app has left it.
    var runningCall: (any MediaCall)? {
        switch phase {
        case .joining, .inside: call
        case .out, .failed, .leaving: nil
        }
    }
}

extension EngineSession.State {
    /// Whether there is no call, not even one that has failed.
    var isOut: Bool {
        switch phase {
        case .out: true
        case .joining, .inside, .failed, .leaving: false
        }
    }
}
