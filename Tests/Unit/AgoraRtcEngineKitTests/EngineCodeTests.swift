import CAgoraRtcCodes
import Testing

/// The names that apps write, with the numbers of the documents.
@Suite struct EngineCodeTests {
    private func numbers<Value: RawRepresentable>(_ values: [Value]) -> [Int] where Value.RawValue: BinaryInteger {
        values.map { Int($0.rawValue) }
    }

    @Test func errors() {
        let general: [AgoraRtcErrorCode] = [
            .error_NoError, .error_Failed, .error_InvalidArgument, .error_NotReady, .error_NotSupported,
            .error_Refused, .error_BufferTooSmall, .error_NotInitialized, .error_InvalidView, .error_NoPermission,
            .error_TimedOut, .error_Canceled, .error_TooOften, .error_BindSocket, .error_NetDown, .error_NoBufs,
            .error_InitVideo, .error_JoinChannelRejected, .error_LeaveChannelRejected,
        ]
        #expect(numbers(general) == Array(0...18))
        let joins: [AgoraRtcErrorCode] = [
            .error_InvalidVendorKey, .error_InvalidChannelName, .error_DynamicKeyTimeout, .error_InvalidDynamicKey,
            .error_InvalidAppId, .error_ChannelKeyExpired, .error_InvalidChannelKey,
        ]
        #expect(numbers(joins) == [101, 102, 109, 110, 101, 109, 110])
        let media: [AgoraRtcErrorCode] = [
            .error_LoadMediaEngine, .error_StartCall, .error_StartCamera, .error_StartVideoRender,
            .error_Adm_GeneralError, .error_Adm_JavaResource, .error_Adm_SampleRate, .error_Adm_InitPlayout,
            .error_Adm_StartPlayout, .error_Adm_StopPlayout, .error_Adm_InitRecording, .error_Adm_StartRecording,
            .error_Adm_StopRecording, .error_Adm_RuntimePlayoutError, .error_Adm_RuntimeRecordingError,
            .error_Adm_RecordAudioFailed, .error_Adm_Init_Loopback, .error_Adm_Start_Loopback,
            .error_Vdm_Camera_Not_Authorized,
        ]
        #expect(numbers(media) == Array(1001...1013) + [1015, 1017, 1018, 1022, 1023, 1024])
    }

    @Test func warnings() {
        let values: [AgoraRtcWarningCode] = [
            .warn_NoAvailableChannel, .warn_LookupChannelTimeout, .warn_LookupChannelRejected,
            .warn_OpenChannelTimeout, .warn_OpenChannelRejected, .warn_RequestDeferred,
            .warn_Adm_RuntimePlayoutWarning, .warn_Adm_RuntimeRecordingWarning, .warn_Adm_RecordAudioSilence,
            .warn_Adm_PlaybackMalfunction, .warn_Adm_RecordMalfunction, .warn_Adm_Interruption,
            .warn_Adm_RouteChange, .warn_Apm_Howling,
        ]
        #expect(numbers(values) == Array(103...108) + [1014, 1016, 1019, 1020, 1021, 1025, 1026, 1051])
    }

    @Test func videoProfiles() {
        let documented: [AgoraRtcVideoProfile] = [
            ._VideoProfile_Invalid, ._VideoProfile_120P, ._VideoProfile_120P_2, ._VideoProfile_120P_3,
            ._VideoProfile_180P, ._VideoProfile_180P_2, ._VideoProfile_180P_3,
            ._VideoProfile_240P, ._VideoProfile_240P_2, ._VideoProfile_240P_3,
            ._VideoProfile_360P, ._VideoProfile_360P_2, ._VideoProfile_360P_3,
            ._VideoProfile_360P_4, ._VideoProfile_360P_5, ._VideoProfile_360P_6,
            ._VideoProfile_480P, ._VideoProfile_480P_2, ._VideoProfile_480P_3, ._VideoProfile_480P_4,
            ._VideoProfile_480P_5, ._VideoProfile_480P_6, ._VideoProfile_480P_7,
            ._VideoProfile_720P, ._VideoProfile_720P_2, ._VideoProfile_720P_3, ._VideoProfile_720P_4,
        ]
        let sizes = [10...12, 20...22, 30...35, 40...46, 50...53].flatMap { Array($0) }
        #expect(numbers(documented) == Array(-1...2) + sizes)
        #expect(AgoraRtcVideoProfile._VideoProfile_DEFAULT == ._VideoProfile_360P)
        let later: [AgoraRtcVideoProfile] = [
            ._VideoProfile_180P_4, ._VideoProfile_240P_4, ._VideoProfile_360P_7, ._VideoProfile_360P_8,
            ._VideoProfile_360P_9, ._VideoProfile_360P_10, ._VideoProfile_360P_11, ._VideoProfile_480P_8,
            ._VideoProfile_480P_9, ._VideoProfile_480P_10, ._VideoProfile_720P_5, ._VideoProfile_720P_6,
            ._VideoProfile_1080P, ._VideoProfile_1080P_2, ._VideoProfile_1080P_3, ._VideoProfile_1080P_4,
            ._VideoProfile_1080P_5, ._VideoProfile_1080P_6, ._VideoProfile_1440P, ._VideoProfile_1440P_2,
            ._VideoProfile_4K, ._VideoProfile_4K_2, ._VideoProfile_4K_3, ._VideoProfile_4K_4,
        ]
        #expect(
            numbers(later)
                == [13, 23, 36, 37, 38, 39, 100, 47, 48, 49] + Array(54...55) + Array(60...67) + Array(70...73))
    }

    @Test func quality() {
        let values: [AgoraRtcQuality] = [
            .quality_Unknown, .quality_Excellent, .quality_Good, .quality_Poor, .quality_Bad, .quality_VBad,
            .quality_Down,
        ]
        #expect(numbers(values) == Array(0...6))
    }

    @Test func choices() {
        let reasons: [AgoraRtcUserOfflineReason] = [.userOffline_Quit, .userOffline_Dropped]
        #expect(numbers(reasons) == [0, 1])
        let modes: [AgoraRtcRenderMode] = [.render_Hidden, .render_Fit, .render_Adaptive]
        #expect(numbers(modes) == [1, 2, 3])
        let filters: [AgoraRtcLogFilter] = [
            .logFilter_Info, .logFilter_Warn, .logFilter_Error, .logFilter_Critical, .logFilter_Debug,
        ]
        #expect(numbers(filters) == [1, 2, 4, 8, 0x800])
        let profiles: [AgoraRtcChannelProfile] = [
            .channelProfile_Free, .channelProfile_Broadcaster, .channelProfile_Audience,
            .channelProfile_Communication, .channelProfile_LiveBroadcasting, .channelProfile_Game,
        ]
        #expect(numbers(profiles) == [0, 1, 2, 0, 1, 2])
        let formats: [AgoraRtcQualityReportFormat] = [.qualityReportFormat_Json, .qualityReportFormat_Html]
        #expect(numbers(formats) == [0, 1])
    }

    @Test func choicesOfLaterHeaders() {
        let recordings: [AgoraRtcAudioRecordingQuality] = [
            .audioRecordingQuality_Low, .audioRecordingQuality_Medium, .audioRecordingQuality_High,
        ]
        #expect(numbers(recordings) == [0, 1, 2])
        let routes: [AgoraRtcAudioOutputRouting] = [
            .audioOutputRouting_Default, .audioOutputRouting_Headset, .audioOutputRouting_Earpiece,
            .audioOutputRouting_HeadsetNoMic, .audioOutputRouting_Speakerphone, .audioOutputRouting_Loudspeaker,
            .audioOutputRouting_HeadsetBluetooth,
        ]
        #expect(numbers(routes) == Array(-1...5))
        let devices: [AgoraRtcDeviceType] = [
            .deviceType_Audio_Unknown, .deviceType_Audio_Recording, .deviceType_Audio_Playout,
            .deviceType_Video_Render, .deviceType_Video_Capture,
        ]
        #expect(numbers(devices) == Array(-1...3))
        let roles: [AgoraRtcClientRole] = [.clientRole_Broadcaster, .clientRole_Audience]
        #expect(numbers(roles) == [1, 2])
        let streams: [AgoraRtcVideoStreamType] = [.videoStream_High, .videoStream_Low]
        #expect(numbers(streams) == [0, 1])
    }

    /// A code that no header lists keeps its number, so that a later cluster can send it to an older app.
    @Test func unknownCodesKeepTheirNumber() {
        #expect(AgoraRtcErrorCode(rawValue: 4711)?.rawValue == 4711)
        #expect(AgoraRtcWarningCode(rawValue: 12)?.rawValue == 12)
    }
}
