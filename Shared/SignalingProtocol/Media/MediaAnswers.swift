/// The reply to ``JoinMedia``.
package struct MediaJoined: Equatable, Sendable {
    /// The uid, also when it was asked for.
    package var uid: UInt32
    /// What the participant must know to resume, restart or renew.
    package var secret: String
    /// Grows with each node that the channel has been on.
    package var epoch: Int64
    /// The number of the roster's last change.
    package var n: Int64
    /// The members at that number, oldest first, with the participant itself.
    package var users: [MediaUser]
    package var transport: MediaTransportAnswer

    package init(
        uid: UInt32, secret: String, epoch: Int64, n: Int64, users: [MediaUser], transport: MediaTransportAnswer
    ) {
        self.uid = uid
        self.secret = secret
        self.epoch = epoch
        self.n = n
        self.users = users
        self.transport = transport
    }
}

/// A member of a media channel, as in answers and events.
package struct MediaUser: Hashable, Sendable {
    package var uid: UInt32
    package var flags: MediaFlags
    /// For how long it has been a member, in ms.
    package var age: Int64

    package init(uid: UInt32, flags: MediaFlags, age: Int64) {
        self.uid = uid
        self.flags = flags
        self.age = age
    }
}

/// The reply to ``LeaveMedia``.
package struct MediaLeft: Equatable, Sendable {
    /// From the join to the end, in ms.
    package var duration: Int64
    /// What the participant has sent and received, in bytes of its datagrams.
    package var bytes: Int64

    package init(duration: Int64, bytes: Int64) {
        self.duration = duration
        self.bytes = bytes
    }
}

/// A change of what a participant sends; nil for what stays as it is.
package struct MediaMute: Hashable, Sendable {
    /// Whether its audio is muted.
    package var audio: Bool?
    /// Whether its video is muted.
    package var video: Bool?
    /// Whether it has video.
    package var enabled: Bool?

    package init(audio: Bool? = nil, video: Bool? = nil, enabled: Bool? = nil) {
        self.audio = audio
        self.video = video
        self.enabled = enabled
    }
}

/// The reply to ``MuteMedia``.
package struct MediaMuted: Equatable, Sendable {
    /// The number of the roster's change; nil when nothing has changed, and of a node of the release before.
    package var n: Int64?

    package init(n: Int64?) { self.n = n }
}

/// The reply to ``ResumeMedia``.
package struct MediaResumed: Equatable, Sendable {
    /// The uid that the participant has asked for, which its keys are for: 0 if the node has chosen one.
    package var keyUID: UInt32
    /// The number of the roster's last change.
    package var n: Int64
    /// The members at that number, oldest first.
    package var users: [MediaUser]

    package init(keyUID: UInt32, n: Int64, users: [MediaUser]) {
        self.keyUID = keyUID
        self.n = n
        self.users = users
    }
}

/// The reply to ``RestartMedia``.
package struct MediaRestarted: Equatable, Sendable {
    /// As ``MediaResumed/keyUID``.
    package var keyUID: UInt32
    package var transport: MediaTransportAnswer

    package init(keyUID: UInt32, transport: MediaTransportAnswer) {
        self.keyUID = keyUID
        self.transport = transport
    }
}
