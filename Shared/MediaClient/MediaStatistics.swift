/// What a call has sent and received. A value of its own, which does not change later; numbers of two reports never
/// fall.
public struct MediaStatistics: Sendable, Hashable {
    /// How another user was heard since the report before.
    public struct Audio: Sendable, Hashable {
        /// The user.
        public var uid: UInt32
        /// 0 unknown, 1 excellent, 2 good, 3 poor, 4 bad, 5 very bad, 6 down.
        public var quality: Int
        /// From mouth to ear, in milliseconds, as far as it is known.
        public var delay: Int
        /// The packets lost end to end, in percent.
        public var lost: Int
    }

    /// What happened to the frames that were to be played.
    public struct Playout: Sendable, Hashable {
        /// Frames that came in time.
        public var played = 0
        /// Lost frames that were taken from the copy in the packet after them.
        public var recovered = 0
        /// Frames without any packet, for which something likely was invented, or silence.
        public var concealed = 0
        /// Packets that came too late.
        public var late = 0

        /// Nothing was to be played.
        public init() {}
    }

    /// Since joining, in whole seconds; of two reports never equal.
    public var duration = 0
    /// Bytes of UDP payload that were sent since joining.
    public var sentBytes: UInt64 = 0
    /// Bytes of UDP payload that were received since joining.
    public var receivedBytes: UInt64 = 0
    /// Sent since the report before, in kbit/s.
    public var sentKilobits = 0
    /// Received since the report before, in kbit/s.
    public var receivedKilobits = 0
    /// The users in the channel, with the local one.
    public var users = 0
    /// The round trip to the media node in milliseconds; 0 until it is known.
    public var roundTrip = 0
    /// The packets of ours that the media node misses, in percent, as it told last.
    public var lostUpstream = 0
    /// The others who are not muted, by uid.
    public var audio: [Audio] = []
    /// Of all users since joining.
    public var playout = Playout()

    /// Nothing was sent or received.
    public init() {}
}
