/// What a call has sent and received, and the reports of it that an app gets every two seconds.
///
/// Apps divide by and subtract what they are told: durations of two reports are never equal, and bytes never fall.
package struct CallStatistics: Sendable {
    /// Between two reports.
    package static let interval: MediaInterval = .seconds(2)
    /// How soon after a report the next one may come when a timer was late.
    package static let leastInterval: MediaInterval = .seconds(1)
    /// How much of a user has to be received for a judgement.
    package static let leastReception: MediaInterval = .seconds(1)
    /// How long no packet comes of a user who is down.
    package static let greatestSilence: MediaInterval = .seconds(2)
    /// The most users that are followed; further ones are counted in the sums alone.
    package static let capacity = 500

    /// Bytes and packets in both directions since joining.
    package struct Traffic: Sendable, Hashable {
        /// Bytes of UDP payload that were sent.
        package var sentBytes: UInt64 = 0
        /// Bytes of UDP payload that were received.
        package var receivedBytes: UInt64 = 0
        /// Packets that were sent.
        package var sentPackets: UInt64 = 0
        /// Packets that were received.
        package var receivedPackets: UInt64 = 0
    }

    /// How a user was heard in the last interval.
    package struct UserAudio: Sendable, Hashable {
        /// The user.
        package var uid: UInt32
        /// By delay and loss.
        package var quality: AudioQuality
        /// From mouth to ear, as it was told last.
        package var delay: MediaInterval
        /// The packets lost end to end, in percent.
        package var lostPercent: Double
    }

    /// A report; a value of its own, which does not change later.
    package struct Report: Sendable, Hashable {
        /// Whole seconds since joining, at least one more than in the report before.
        package var duration: Int
        /// Since joining.
        package var traffic: Traffic
        /// Sent in the last interval, in kbit/s.
        package var sentKilobits: Int
        /// Received in the last interval, in kbit/s.
        package var receivedKilobits: Int
        /// The others who are not muted, by uid.
        package var users: [UserAudio]
    }

    private struct User {
        var loss = PacketLoss()
        var since: MediaInstant
        var latest: MediaInstant?
        var received = MediaInterval.zero
        var delay = MediaInterval.zero
        var isMuted = false
    }

    private let joined: MediaInstant
    private var traffic = Traffic()
    private var users: [UInt32: User] = [:]
    private var last: (time: MediaInstant, traffic: Traffic)

    /// Begins counting for a call that was joined at that time.
    package init(joined: MediaInstant) {
        self.joined = joined
        last = (joined, Traffic())
    }

    /// When the next report is due: 2 s after the last one or joining.
    package var nextReport: MediaInstant {
        // By the number of the report, so that late timers do not add up, but never two within a second.
        let intervals = (last.time - joined).microseconds / Self.interval.microseconds + 1
        let due = joined + MediaInterval(microseconds: intervals * Self.interval.microseconds)
        return last.time == joined ? due : max(due, last.time + Self.leastInterval)
    }

    /// Counts a datagram that was sent.
    package mutating func send(bytes: Int) {
        traffic.sentBytes += UInt64(max(0, bytes))
        traffic.sentPackets += 1
    }

    /// Counts a datagram that was received, of whatever kind.
    package mutating func receive(bytes: Int) {
        traffic.receivedBytes += UInt64(max(0, bytes))
        traffic.receivedPackets += 1
    }

    /// Another user is in the channel, from then on expected to be heard.
    package mutating func userJoined(_ uid: UInt32, at now: MediaInstant) {
        guard users[uid] == nil, users.count < Self.capacity else { return }
        users[uid] = User(since: now)
    }

    /// Another user is gone.
    package mutating func userLeft(_ uid: UInt32) { users[uid] = nil }

    /// Another user is muted, and not judged, or no longer, and expected to be heard from then on.
    package mutating func setMuted(_ isMuted: Bool, uid: UInt32, at now: MediaInstant) {
        guard var user = users[uid], user.isMuted != isMuted else { return }
        user = User(since: now)
        user.isMuted = isMuted
        users[uid] = user
    }

    /// Counts an audio packet of another user; `isFirst` when the user has just come into the slot.
    package mutating func receiveAudio(uid: UInt32, sequence: UInt16, isFirst: Bool, at now: MediaInstant) {
        guard var user = users[uid] else { return }
        if isFirst { user.loss.begin() }
        guard user.loss.put(sequence: sequence) else { return }
        user.latest = now
        user.received = user.received + .samples(AudioPacket.samples)
        users[uid] = user
    }

    /// The delay from another user's mouth to the local ear, as far as it is known: half of both round trips, the
    /// jitter buffer, and the frames in devices and codecs.
    package mutating func setDelay(_ delay: MediaInterval, uid: UInt32) { users[uid]?.delay = delay }

    /// The report that is due at that time; nil before `nextReport`, unless it is the last one, at the end of the call.
    package mutating func report(at now: MediaInstant, isLast: Bool = false) -> Report? {
        guard now >= nextReport || isLast else { return nil }
        let span = (now - last.time).seconds
        // Reports are a second apart at least, so that rounded durations differ.
        let duration = Int((now - joined).seconds.rounded())
        let sent = traffic.sentBytes - last.traffic.sentBytes
        let received = traffic.receivedBytes - last.traffic.receivedBytes
        last = (now, traffic)
        return Report(
            duration: duration, traffic: traffic, sentKilobits: Self.kilobits(sent, in: span),
            receivedKilobits: Self.kilobits(received, in: span),
            users: users.keys.sorted().compactMap { judge($0, at: now) })
    }

    private mutating func judge(_ uid: UInt32, at now: MediaInstant) -> UserAudio? {
        guard var user = users[uid] else { return nil }
        let lost = user.loss.take().lostPercent
        users[uid] = user
        if user.isMuted { return nil }
        let quality: AudioQuality
        if now - (user.latest ?? user.since) >= Self.greatestSilence {
            quality = .down
        } else if user.received < Self.leastReception {
            quality = .unknown
        } else {
            quality = AudioQuality(delay: user.delay, lostPercent: lost)
        }
        return UserAudio(uid: uid, quality: quality, delay: user.delay, lostPercent: lost)
    }

    private static func kilobits(_ bytes: UInt64, in seconds: Double) -> Int {
        seconds > 0 ? Int((Double(bytes) * 8 / 1000 / seconds).rounded()) : 0
    }
}
