import CAgoraRtcCodes
import Testing

@testable import MediaClient

/// What the client itself finds has codes of the old framework.
@Suite struct MediaErrorCodeTests {
    @Test func errors() {
        let errors: [(MediaError, AgoraRtcErrorCode)] = [
            (.badAnswer, .error_Failed), (.notJoined, .error_NotReady), (.noAnswer, .error_TimedOut),
            (.cancelled, .error_Canceled), (.limited, .error_TooOften), (.replaced, .error_JoinChannelRejected),
            (.codecFailed, .error_LoadMediaEngine), (.startFailed, .error_StartCall),
        ]
        for (error, code) in errors { #expect(error.code == code.rawValue, "\(error.reason)") }
    }

    @Test func warnings() {
        let warnings: [(MediaError, AgoraRtcWarningCode)] = [
            (.noGateway, .warn_LookupChannelTimeout), (.noPath, .warn_OpenChannelTimeout),
            (.playbackLate, .warn_Adm_RuntimePlayoutWarning), (.captureLate, .warn_Adm_RuntimeRecordingWarning),
            (.captureSilent, .warn_Adm_RecordAudioSilence), (.playbackOffPace, .warn_Adm_PlaybackMalfunction),
            (.captureOffPace, .warn_Adm_RecordMalfunction),
        ]
        for (warning, code) in warnings { #expect(warning.code == code.rawValue, "\(warning.reason)") }
    }
}
