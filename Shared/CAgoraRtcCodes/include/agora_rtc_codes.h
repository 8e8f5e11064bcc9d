#ifndef HELIOGRAPH_AGORA_RTC_CODES_H
#define HELIOGRAPH_AGORA_RTC_CODES_H

// The enumerations of the media SDK. They are open: a code that they do not list keeps its value. Where two names share a value, the
// first is the case, and Swift has the others as constants.

/// What went wrong and needs the app; negated, what methods return. Source: Native SDK for iOS 1.4, "Error codes".
typedef enum __attribute__((enum_extensibility(open))) AgoraRtcErrorCode : long {
    /// Success.
    AgoraRtc_Error_NoError = 0,
    /// A failure without a code of its own.
    AgoraRtc_Error_Failed = 1,
    /// An argument is outside its range.
    AgoraRtc_Error_InvalidArgument = 2,
    /// The engine is not in the state that the method needs.
    AgoraRtc_Error_NotReady = 3,
    /// This build cannot do that.
    AgoraRtc_Error_NotSupported = 4,
    /// Refused in this state.
    AgoraRtc_Error_Refused = 5,
    /// Not sent.
    AgoraRtc_Error_BufferTooSmall = 6,
    /// The engine was destroyed.
    AgoraRtc_Error_NotInitialized = 7,
    /// Not sent.
    AgoraRtc_Error_InvalidView = 8,
    /// A device or a file may not be used. Not sent yet.
    AgoraRtc_Error_NoPermission = 9,
    /// No answer came in time.
    AgoraRtc_Error_TimedOut = 10,
    /// Not sent.
    AgoraRtc_Error_Canceled = 11,
    /// A rate limit of the cluster was reached.
    AgoraRtc_Error_TooOften = 12,
    /// Not sent.
    AgoraRtc_Error_BindSocket = 13,
    /// Not sent.
    AgoraRtc_Error_NetDown = 14,
    /// Not sent.
    AgoraRtc_Error_NoBufs = 15,
    /// Not sent.
    AgoraRtc_Error_InitVideo = 16,
    /// In a channel already, the channel is full, or the uid has joined elsewhere.
    AgoraRtc_Error_JoinChannelRejected = 17,
    /// Not sent.
    AgoraRtc_Error_LeaveChannelRejected = 18,
    /// The vendor key is missing, or unknown to the cluster.
    AgoraRtc_Error_InvalidVendorKey = 101,
    /// The channel's name has a length or characters that are not allowed.
    AgoraRtc_Error_InvalidChannelName = 102,
    /// The key has expired.
    AgoraRtc_Error_DynamicKeyTimeout = 109,
    /// The key is missing, malformed or wrong.
    AgoraRtc_Error_InvalidDynamicKey = 110,
    /// The codec's library cannot be used.
    AgoraRtc_Error_LoadMediaEngine = 1001,
    /// A device could not be started, or no media node be reached.
    AgoraRtc_Error_StartCall = 1002,
    /// The video source cannot be opened. Not sent yet.
    AgoraRtc_Error_StartCamera = 1003,
    /// The video sink has refused. Not sent yet.
    AgoraRtc_Error_StartVideoRender = 1004,
    /// The audio device failed. Not sent yet.
    AgoraRtc_Error_Adm_GeneralError = 1005,
    /// Not sent.
    AgoraRtc_Error_Adm_JavaResource = 1006,
    /// The audio device has another sample rate.
    AgoraRtc_Error_Adm_SampleRate = 1007,
    /// Playback cannot be prepared.
    AgoraRtc_Error_Adm_InitPlayout = 1008,
    /// Playback cannot be started.
    AgoraRtc_Error_Adm_StartPlayout = 1009,
    /// Playback cannot be stopped. Not sent yet.
    AgoraRtc_Error_Adm_StopPlayout = 1010,
    /// Capture cannot be prepared.
    AgoraRtc_Error_Adm_InitRecording = 1011,
    /// Capture cannot be started.
    AgoraRtc_Error_Adm_StartRecording = 1012,
    /// Capture cannot be stopped. Not sent yet.
    AgoraRtc_Error_Adm_StopRecording = 1013,
    /// Playback failed during a call.
    AgoraRtc_Error_Adm_RuntimePlayoutError = 1015,
    /// Capture failed during a call.
    AgoraRtc_Error_Adm_RuntimeRecordingError = 1017,
    /// Capture has delivered nothing for 10 s.
    AgoraRtc_Error_Adm_RecordAudioFailed = 1018,
    /// Not sent.
    AgoraRtc_Error_Adm_Init_Loopback = 1022,
    /// Not sent.
    AgoraRtc_Error_Adm_Start_Loopback = 1023,
    /// Not sent.
    AgoraRtc_Error_Vdm_Camera_Not_Authorized = 1024,
    /// The later name of `InvalidVendorKey`.
    AgoraRtc_Error_InvalidAppId = 101,
    /// The later name of `DynamicKeyTimeout`.
    AgoraRtc_Error_ChannelKeyExpired = 109,
    /// The later name of `InvalidDynamicKey`.
    AgoraRtc_Error_InvalidChannelKey = 110,
} AgoraRtcErrorCode;

/// What went wrong and is tried again. Source: Native SDK for iOS 1.4, "Warning codes".
typedef enum __attribute__((enum_extensibility(open))) AgoraRtcWarningCode : long {
    /// The cluster has no media node at the moment.
    AgoraRtc_Warn_NoAvailableChannel = 103,
    /// No gateway has answered in 5 s.
    AgoraRtc_Warn_LookupChannelTimeout = 104,
    /// Not sent.
    AgoraRtc_Warn_LookupChannelRejected = 105,
    /// Nothing comes on the path of the media.
    AgoraRtc_Warn_OpenChannelTimeout = 106,
    /// The media node has refused; another one is tried.
    AgoraRtc_Warn_OpenChannelRejected = 107,
    /// A rate limit makes the client wait.
    AgoraRtc_Warn_RequestDeferred = 108,
    /// Playback is late. Not sent yet.
    AgoraRtc_Warn_Adm_RuntimePlayoutWarning = 1014,
    /// Capture is late. Not sent yet.
    AgoraRtc_Warn_Adm_RuntimeRecordingWarning = 1016,
    /// Only digital silence has been captured for 10 s. Not sent yet.
    AgoraRtc_Warn_Adm_RecordAudioSilence = 1019,
    /// The clock of playback is off. Not sent yet.
    AgoraRtc_Warn_Adm_PlaybackMalfunction = 1020,
    /// The clock of capture is off. Not sent yet.
    AgoraRtc_Warn_Adm_RecordMalfunction = 1021,
    /// Not sent.
    AgoraRtc_Warn_Adm_Interruption = 1025,
    /// Not sent.
    AgoraRtc_Warn_Adm_RouteChange = 1026,
    /// Not sent.
    AgoraRtc_Warn_Apm_Howling = 1051,
} AgoraRtcWarningCode;

/// The size, rate and bit rate of the video that is sent.
typedef enum __attribute__((enum_extensibility(open))) AgoraRtcVideoProfile : long {
    /// No profile.
    AgoraRtc_VideoProfile_Invalid = -1,
    /// 160x120, 15 frames a second, 80 kbit/s.
    AgoraRtc_VideoProfile_120P = 0,
    /// 120x160, 15 frames a second, 80 kbit/s.
    AgoraRtc_VideoProfile_120P_2 = 1,
    /// 120x120, 15 frames a second, 60 kbit/s.
    AgoraRtc_VideoProfile_120P_3 = 2,
    /// 320x180, 15 frames a second, 160 kbit/s.
    AgoraRtc_VideoProfile_180P = 10,
    /// 180x320, 15 frames a second, 160 kbit/s.
    AgoraRtc_VideoProfile_180P_2 = 11,
    /// 180x180, 15 frames a second, 120 kbit/s.
    AgoraRtc_VideoProfile_180P_3 = 12,
    /// 320x240, 15 frames a second, 200 kbit/s.
    AgoraRtc_VideoProfile_240P = 20,
    /// 240x320, 15 frames a second, 200 kbit/s.
    AgoraRtc_VideoProfile_240P_2 = 21,
    /// 240x240, 15 frames a second, 160 kbit/s.
    AgoraRtc_VideoProfile_240P_3 = 22,
    /// 640x360, 15 frames a second, 400 kbit/s.
    AgoraRtc_VideoProfile_360P = 30,
    /// 360x640, 15 frames a second, 400 kbit/s.
    AgoraRtc_VideoProfile_360P_2 = 31,
    /// 360x360, 15 frames a second, 300 kbit/s.
    AgoraRtc_VideoProfile_360P_3 = 32,
    /// 640x360, 30 frames a second, 800 kbit/s.
    AgoraRtc_VideoProfile_360P_4 = 33,
    /// 360x640, 30 frames a second, 800 kbit/s.
    AgoraRtc_VideoProfile_360P_5 = 34,
    /// 360x360, 30 frames a second, 600 kbit/s.
    AgoraRtc_VideoProfile_360P_6 = 35,
    /// 640x480, 15 frames a second, 500 kbit/s.
    AgoraRtc_VideoProfile_480P = 40,
    /// 480x640, 15 frames a second, 500 kbit/s.
    AgoraRtc_VideoProfile_480P_2 = 41,
    /// 480x480, 15 frames a second, 400 kbit/s.
    AgoraRtc_VideoProfile_480P_3 = 42,
    /// 640x480, 30 frames a second, 1000 kbit/s.
    AgoraRtc_VideoProfile_480P_4 = 43,
    /// 480x640, 30 frames a second, 1000 kbit/s.
    AgoraRtc_VideoProfile_480P_5 = 44,
    /// 480x480, 30 frames a second, 800 kbit/s.
    AgoraRtc_VideoProfile_480P_6 = 45,
    /// 640x480, 15 frames a second, 1000 kbit/s.
    AgoraRtc_VideoProfile_480P_7 = 46,
    /// 1280x720, 15 frames a second, 1000 kbit/s.
    AgoraRtc_VideoProfile_720P = 50,
    /// 720x1280, 15 frames a second, 1000 kbit/s.
    AgoraRtc_VideoProfile_720P_2 = 51,
    /// 1280x720, 30 frames a second, 2000 kbit/s.
    AgoraRtc_VideoProfile_720P_3 = 52,
    /// 720x1280, 30 frames a second, 2000 kbit/s.
    AgoraRtc_VideoProfile_720P_4 = 53,
    /// Of later headers.
    AgoraRtc_VideoProfile_180P_4 = 13,
    /// Of later headers.
    AgoraRtc_VideoProfile_240P_4 = 23,
    /// Of later headers.
    AgoraRtc_VideoProfile_360P_7 = 36,
    /// Of later headers.
    AgoraRtc_VideoProfile_360P_8 = 37,
    /// Of later headers.
    AgoraRtc_VideoProfile_360P_9 = 38,
    /// Of later headers.
    AgoraRtc_VideoProfile_360P_10 = 39,
    /// Of later headers.
    AgoraRtc_VideoProfile_360P_11 = 100,
    /// Of later headers.
    AgoraRtc_VideoProfile_480P_8 = 47,
    /// Of later headers.
    AgoraRtc_VideoProfile_480P_9 = 48,
    /// Of later headers.
    AgoraRtc_VideoProfile_480P_10 = 49,
    /// Of later headers.
    AgoraRtc_VideoProfile_720P_5 = 54,
    /// Of later headers.
    AgoraRtc_VideoProfile_720P_6 = 55,
    /// 1920x1080, 15 frames a second, 1500 kbit/s.
    AgoraRtc_VideoProfile_1080P = 60,
    /// 1080x1920, 15 frames a second, 1500 kbit/s.
    AgoraRtc_VideoProfile_1080P_2 = 61,
    /// 1920x1080, 30 frames a second, 2550 kbit/s.
    AgoraRtc_VideoProfile_1080P_3 = 62,
    /// 1080x1920, 30 frames a second, 2550 kbit/s.
    AgoraRtc_VideoProfile_1080P_4 = 63,
    /// 1920x1080, 60 frames a second, 4300 kbit/s.
    AgoraRtc_VideoProfile_1080P_5 = 64,
    /// 1080x1920, 60 frames a second, 4300 kbit/s.
    AgoraRtc_VideoProfile_1080P_6 = 65,
    /// Of later headers.
    AgoraRtc_VideoProfile_1440P = 66,
    /// Of later headers.
    AgoraRtc_VideoProfile_1440P_2 = 67,
    /// 3840x2160, 30 frames a second, 8000 kbit/s.
    AgoraRtc_VideoProfile_4K = 70,
    /// 2160x3840, 30 frames a second, 8000 kbit/s.
    AgoraRtc_VideoProfile_4K_2 = 71,
    /// 3840x2160, 60 frames a second, 13600 kbit/s.
    AgoraRtc_VideoProfile_4K_3 = 72,
    /// 2160x3840, 60 frames a second, 13600 kbit/s.
    AgoraRtc_VideoProfile_4K_4 = 73,
    /// The default: 360P.
    AgoraRtc_VideoProfile_DEFAULT = 30,
} AgoraRtcVideoProfile;

/// How well a user is heard.
typedef enum __attribute__((enum_extensibility(open))) AgoraRtcQuality : unsigned long {
    /// Too little is known.
    AgoraRtc_Quality_Unknown = 0,
    /// Nothing is to be heard of the network.
    AgoraRtc_Quality_Excellent = 1,
    /// Slightly less than excellent.
    AgoraRtc_Quality_Good = 2,
    /// There are slight disturbances.
    AgoraRtc_Quality_Poor = 3,
    /// Users understand one another with pains.
    AgoraRtc_Quality_Bad = 4,
    /// Users hardly understand one another.
    AgoraRtc_Quality_VBad = 5,
    /// Nothing comes.
    AgoraRtc_Quality_Down = 6,
} AgoraRtcQuality;

/// Why a user is gone.
typedef enum __attribute__((enum_extensibility(open))) AgoraRtcUserOfflineReason : unsigned long {
    /// The user has left.
    AgoraRtc_UserOffline_Quit = 0,
    /// Nothing has come of the user for 15 s.
    AgoraRtc_UserOffline_Dropped = 1,
} AgoraRtcUserOfflineReason;

/// How a picture is fitted into its view.
typedef enum __attribute__((enum_extensibility(open))) AgoraRtcRenderMode : unsigned long {
    /// The view is filled; what sticks out is cut.
    AgoraRtc_Render_Hidden = 1,
    /// All of the picture is shown, with bars.
    AgoraRtc_Render_Fit = 2,
    /// Filled when picture and view are both upright or both lie, else fitted.
    AgoraRtc_Render_Adaptive = 3,
} AgoraRtcRenderMode;

/// The kinds of lines in the log, to be combined by or.
typedef enum __attribute__((enum_extensibility(open))) AgoraRtcLogFilter : unsigned long {
    /// Everything.
    AgoraRtc_LogFilter_Debug = 2048,
    /// What happens.
    AgoraRtc_LogFilter_Info = 1,
    /// What is tried again.
    AgoraRtc_LogFilter_Warn = 2,
    /// What needs the app.
    AgoraRtc_LogFilter_Error = 4,
    /// What ends the engine.
    AgoraRtc_LogFilter_Critical = 8,
} AgoraRtcLogFilter;

/// The kind of a channel.
typedef enum __attribute__((enum_extensibility(open))) AgoraRtcChannelProfile : long {
    /// All users talk.
    AgoraRtc_ChannelProfile_Free = 0,
    /// The user talks to an audience.
    AgoraRtc_ChannelProfile_Broadcaster = 1,
    /// The user listens.
    AgoraRtc_ChannelProfile_Audience = 2,
    /// A later name of 0.
    AgoraRtc_ChannelProfile_Communication = 0,
    /// A later name of 1.
    AgoraRtc_ChannelProfile_LiveBroadcasting = 1,
    /// A later name of 2.
    AgoraRtc_ChannelProfile_Game = 2,
} AgoraRtcChannelProfile;

/// The form of a report of quality.
typedef enum __attribute__((enum_extensibility(open))) AgoraRtcQualityReportFormat : unsigned long {
    /// JSON.
    AgoraRtc_QualityReportFormat_Json = 0,
    /// A page.
    AgoraRtc_QualityReportFormat_Html = 1,
} AgoraRtcQualityReportFormat;

/// The quality of a recording.
typedef enum __attribute__((enum_extensibility(open))) AgoraRtcAudioRecordingQuality : long {
    /// Small files.
    AgoraRtc_AudioRecordingQuality_Low = 0,
    /// Files of middle size.
    AgoraRtc_AudioRecordingQuality_Medium = 1,
    /// Large files.
    AgoraRtc_AudioRecordingQuality_High = 2,
} AgoraRtcAudioRecordingQuality;

/// By what the user listens.
typedef enum __attribute__((enum_extensibility(open))) AgoraRtcAudioOutputRouting : long {
    /// The device's choice.
    AgoraRtc_AudioOutputRouting_Default = -1,
    /// A headset.
    AgoraRtc_AudioOutputRouting_Headset = 0,
    /// The ear piece.
    AgoraRtc_AudioOutputRouting_Earpiece = 1,
    /// A headset without a microphone.
    AgoraRtc_AudioOutputRouting_HeadsetNoMic = 2,
    /// The loudspeaker of a telephone.
    AgoraRtc_AudioOutputRouting_Speakerphone = 3,
    /// A loudspeaker.
    AgoraRtc_AudioOutputRouting_Loudspeaker = 4,
    /// A wireless headset.
    AgoraRtc_AudioOutputRouting_HeadsetBluetooth = 5,
} AgoraRtcAudioOutputRouting;

/// A kind of device.
typedef enum __attribute__((enum_extensibility(open))) AgoraRtcDeviceType : long {
    /// Unknown.
    AgoraRtc_DeviceType_Audio_Unknown = -1,
    /// Captures audio.
    AgoraRtc_DeviceType_Audio_Recording = 0,
    /// Plays audio.
    AgoraRtc_DeviceType_Audio_Playout = 1,
    /// Shows video.
    AgoraRtc_DeviceType_Video_Render = 2,
    /// Captures video.
    AgoraRtc_DeviceType_Video_Capture = 3,
} AgoraRtcDeviceType;

/// What a user does in a channel.
typedef enum __attribute__((enum_extensibility(open))) AgoraRtcClientRole : long {
    /// Talks.
    AgoraRtc_ClientRole_Broadcaster = 1,
    /// Listens.
    AgoraRtc_ClientRole_Audience = 2,
} AgoraRtcClientRole;

/// One of two sizes of a user's video.
typedef enum __attribute__((enum_extensibility(open))) AgoraRtcVideoStreamType : long {
    /// The large one.
    AgoraRtc_VideoStream_High = 0,
    /// The small one.
    AgoraRtc_VideoStream_Low = 1,
} AgoraRtcVideoStreamType;

#endif
