/// What happens in a media channel, as its participant is told it.
///
/// After a join come ``joined(uid:)``, then the users who are there already, the oldest first, then what is new. The
/// last event is ``ended(_:_:)``.
public enum MediaEvent: Sendable, Hashable {
    /// The user is in the channel, and the first packet has come from its media node.
    case joined(uid: UInt32)
    /// Another user is in the channel.
    case userJoined(MediaUser)
    /// Another user is gone.
    case userLeft(uid: UInt32, MediaLeaveReason)
    /// Another user does (not) send audio any more.
    case audioMuted(uid: UInt32, Bool)
    /// Another user does (not) send video any more.
    case videoMuted(uid: UInt32, Bool)
    /// Another user has turned its video on or off.
    case videoEnabled(uid: UInt32, Bool)
    /// How loud the users are; asked for by ``MediaChannel/reportVolumes(every:smooth:)``.
    case volumes(MediaVolumes)
    /// What was sent and received; every two seconds.
    case statistics(MediaStatistics)
    /// Nothing has come from the media node for 3 s; the client tries to come back until it leaves.
    case interrupted
    /// Nothing for 10 s after the interruption; told once. The client goes on trying.
    case lost
    /// The connection is back after an interruption, under the same uid.
    case rejoined(uid: UInt32)
    /// Something went wrong that the client tries again by itself, or a device does not work as it should: late by
    /// 0.5 s (1014 playback, 1016 capture), only zeroes for 10 s (1019), a clock that is off by 5 % (1020 playback,
    /// 1021 capture). Of a device each is told once until that is over.
    case warning(MediaError)
    /// The key's time is over: nothing is sent or received until ``MediaChannel/renew(key:)`` has given another one.
    /// After 15 s the others are told that the user has dropped.
    case keyExpired
    /// A new key was accepted.
    case keyRenewed
    /// A new key was refused; nothing else has changed.
    case keyRefused(MediaError)
    /// A device could not be started, says that it has failed, or has stood still for 10 s: the call goes on without
    /// it. What it says is told once in a call, a standstill once until it is over; both after ``joined(uid:)``. One
    /// that recovers is used again.
    case deviceFailed(MediaDevice, DeviceFailure)
    /// The call is over; no further event follows. Nil when the user has left it.
    case ended(MediaError?, MediaStatistics)
}

/// Another user of a media channel.
public struct MediaUser: Sendable, Hashable {
    /// The user's number in the channel.
    public var uid: UInt32
    /// Whether the user sends no audio.
    public var isAudioMuted: Bool
    /// Whether the user sends no video although it is enabled.
    public var isVideoMuted: Bool
    /// Whether the user has video.
    public var hasVideo: Bool

    /// Makes a user.
    public init(uid: UInt32, isAudioMuted: Bool = false, isVideoMuted: Bool = false, hasVideo: Bool = false) {
        self.uid = uid
        self.isAudioMuted = isAudioMuted
        self.isVideoMuted = isVideoMuted
        self.hasVideo = hasVideo
    }
}

/// Why a user is gone.
public enum MediaLeaveReason: Sendable, Hashable {
    /// The user has left, or was replaced by another one under its uid.
    case quit
    /// Nothing authentic has come of the user for 15 s, or its key has expired.
    case dropped
}

/// How loud users are, 0...255: 0 is -60 dBov and below, 255 full scale.
public struct MediaVolumes: Sendable, Hashable {
    /// A user's volume.
    public struct Speaker: Sendable, Hashable {
        /// The user; 0 is the local one.
        public var uid: UInt32
        /// 1...255.
        public var volume: Int

        /// Makes a user's volume.
        public init(uid: UInt32, volume: Int) {
            self.uid = uid
            self.volume = volume
        }
    }

    /// Those who are heard, the loudest first.
    public var speakers: [Speaker]
    /// The volume of all of them together.
    public var total: Int

    /// Makes a report.
    public init(speakers: [Speaker], total: Int) {
        self.speakers = speakers
        self.total = total
    }
}

/// A device that failed.
public enum MediaDevice: Sendable, Hashable {
    /// What the user talks with.
    case capture
    /// What the user listens with.
    case playback
}
