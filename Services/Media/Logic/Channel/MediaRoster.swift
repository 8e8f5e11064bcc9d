package import SignalingProtocol

/// The participants of a channel, and the number of their changes.
///
/// A client that sees a gap in the numbers takes the whole roster. Times are milliseconds of a steady clock.
package struct MediaRoster: Sendable {
    package struct Bounds: Sendable {
        package var participants = 500
        package var videoPublishers = 50
        /// How long those whom the node before knew may stay away, in milliseconds.
        package var absence: Int64 = 15_000

        package init() {}
    }

    package struct Member: Equatable, Sendable {
        package var uid: UInt32
        package var pid: ParticipantID
        /// The call that the participant continues when it joins again.
        package var call: String
        package var flags: MediaFlags
        package var joined: Int64

        package init(uid: UInt32, pid: ParticipantID, call: String, flags: MediaFlags, joined: Int64) {
            self.uid = uid
            self.pid = pid
            self.call = call
            self.flags = flags
            self.joined = joined
        }
    }

    /// What a join does.
    package struct Joined: Equatable, Sendable {
        package var uid: UInt32
        /// The participant that is over, and is to be told so: `gone`, reason `replaced`.
        package var replaced: ParticipantID?
        package var events: [MediaEvent]
    }

    package let bounds: Bounds
    /// The number of the last change. Begins at the Redis clock in microseconds, and above the number
    /// that the node before has written: so it never falls, whichever node the channel is on, and however
    /// the clocks of two masters differ.
    package private(set) var n: Int64
    private var members: [UInt32: Member] = [:]
    private var uids: [ParticipantID: UInt32] = [:]
    private var absentUntil: Int64?

    /// - Parameters:
    ///   - clock: the Redis clock, in microseconds.
    ///   - stored: the number that the node before has written to Redis; 0 for none.
    ///   - known: the members whom it has written.
    package init(bounds: Bounds = Bounds(), clock: Int64, stored: Int64 = 0, known: [Member] = [], now: Int64 = 0) {
        self.bounds = bounds
        n = max(stored + 1, clock)
        for var member in known.prefix(bounds.participants) {
            member.flags.insert(.absent)
            insert(member)
        }
        if !members.isEmpty { absentUntil = now + bounds.absence }
    }

    package var count: Int { members.count }
    /// Those who are here.
    package var present: Int { members.values.count { !$0.flags.contains(.absent) } }

    /// All members, oldest first.
    package var snapshot: [Member] { members.values.sorted { ($0.joined, $0.uid) < ($1.joined, $1.uid) } }

    package func member(pid: ParticipantID) -> Member? { uids[pid].flatMap { members[$0] } }

    /// Lets a participant in.
    /// - Parameters:
    ///   - wanted: as the participant asks to be; the uid is 0 for a free one.
    ///   - random: chooses the free one.
    /// - Returns: without an event when the same call goes on.
    package mutating func join(
        _ wanted: Member, random: () -> UInt32 = { UInt32.random(in: 1...UInt32.max) }
    ) throws(MediaRefusal) -> Joined {
        guard uids[wanted.pid] == nil else { throw .refused }
        var member = wanted
        while member.uid == 0 || wanted.uid == 0 && members[member.uid] != nil {
            // A random number is nearly always free: the channel uses few of four billion.
            guard members.count < bounds.participants else { throw .channelFull }
            member.uid = random()
        }
        guard let before = members[member.uid] else {
            guard members.count < bounds.participants else { throw .channelFull }
            try checkVideo(member.flags, instead: [])
            return Joined(uid: member.uid, events: [enter(member)])
        }
        try checkVideo(member.flags, instead: before.flags)
        uids[before.pid] = nil
        let replaced = before.flags.contains(.absent) ? nil : before.pid
        guard before.call == member.call else {
            members[member.uid] = nil
            let left = MediaEvent.left(uid: member.uid, reason: .replaced, n: next())
            return Joined(uid: member.uid, replaced: replaced, events: [left, enter(member)])
        }
        member.joined = before.joined
        insert(member)
        let changed = member.flags != before.flags.subtracting(.absent)
        return Joined(
            uid: member.uid, replaced: replaced,
            events: changed ? [.state(uid: member.uid, flags: member.flags, n: next())] : [])
    }

    /// - Returns: nil for a participant that has left already.
    package mutating func leave(pid: ParticipantID, reason: MediaLeaveReason) -> MediaEvent? {
        guard let uid = uids.removeValue(forKey: pid) else { return nil }
        members[uid] = nil
        return .left(uid: uid, reason: reason, n: next())
    }

    /// Changes what a participant sends.
    /// - Parameters: nil for what stays as it is.
    /// - Returns: nil when nothing changes.
    package mutating func mute(
        pid: ParticipantID, audio: Bool? = nil, video: Bool? = nil, enabled: Bool? = nil
    ) throws(MediaRefusal) -> MediaEvent? {
        guard let uid = uids[pid], var member = members[uid], !member.flags.contains(.absent) else {
            throw .unknownParticipant
        }
        let before = member.flags
        for (flag, isOn) in [(MediaFlags.audioMuted, audio), (.videoMuted, video), (.videoEnabled, enabled)] {
            switch isOn {
            case true?: member.flags.insert(flag)
            case false?: member.flags.remove(flag)
            case nil: break
            }
        }
        guard member.flags != before else { return nil }
        try checkVideo(member.flags, instead: before)
        members[uid] = member
        return .state(uid: uid, flags: member.flags, n: next())
    }

    /// Drops those who have not come to this node in time.
    package mutating func expire(now: Int64) -> [MediaEvent] {
        guard let absentUntil, now >= absentUntil else { return [] }
        self.absentUntil = nil
        let absent = snapshot.filter { $0.flags.contains(.absent) }
        return absent.compactMap { leave(pid: $0.pid, reason: .dropped) }
    }

    private mutating func next() -> Int64 {
        n += 1
        return n
    }

    private mutating func insert(_ member: Member) {
        members[member.uid] = member
        uids[member.pid] = member.uid
    }

    private mutating func enter(_ wanted: Member) -> MediaEvent {
        var member = wanted
        member.flags.remove(.absent)
        insert(member)
        return .joined(uid: member.uid, flags: member.flags, n: next())
    }

    /// Another publisher of video must fit.
    private func checkVideo(_ flags: MediaFlags, instead before: MediaFlags) throws(MediaRefusal) {
        guard flags.contains(.videoEnabled), !before.contains(.videoEnabled) else { return }
        let publishers = members.values.count { $0.flags.contains(.videoEnabled) }
        if publishers >= bounds.videoPublishers { throw .refused }
    }
}
