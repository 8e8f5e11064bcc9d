internal import SignalingProtocol

/// A user of a channel as the node tells of it.
struct RosterMember: Equatable {
    var uid: UInt32
    var flags: MediaFlags
}

/// The client's copy of a channel's users, kept up by numbered changes, and what the app is told of them.
struct Roster: Equatable {
    /// The most users that are known; the app is told nothing of more. A gateway that is none could fill the memory
    /// with them.
    static let bound = 10_000

    /// What a change has led to.
    enum Outcome: Equatable {
        /// The app is to be told.
        case events([MediaEvent])
        /// The change was known already.
        case old
        /// Changes between are missing: the whole roster has to be asked for. The app is to be told of what it does not
        /// say: why a user is gone.
        case gap([MediaEvent])
    }

    /// The client itself, of whose changes nothing is told.
    private let own: UInt32
    private(set) var n: Int64
    /// The number of the latest change that was told, also after a gap.
    private var latest: Int64
    private var flags: [UInt32: MediaFlags]
    /// The uids, oldest first.
    private var order: [UInt32]

    init(_ copy: RosterCopy, own: UInt32) {
        self.own = own
        n = copy.n
        latest = copy.n
        let others = copy.members.filter { $0.uid != own }
        flags = Dictionary(others.map { ($0.uid, $0.flags) }, uniquingKeysWith: { $1 })
        var seen: Set<UInt32> = []
        order = others.map(\.uid).filter { seen.insert($0).inserted }
    }

    /// The others, oldest first.
    var others: [RosterMember] { order.map { RosterMember(uid: $0, flags: flags[$0] ?? []) } }

    /// The users with the client itself.
    var count: Int { order.count + 1 }

    /// Tells of all who are there, as if they had just come.
    var arrivals: [MediaEvent] { others.map(Self.arrival) }

    /// Whether a change was told that is not part of this copy.
    var isBehind: Bool { latest > n }

    /// A user has joined, or its flags have changed.
    mutating func changed(_ member: RosterMember, n: Int64) -> Outcome {
        guard n > self.n else { return .old }
        latest = max(latest, n)
        guard n == self.n + 1 else { return .gap([]) }
        self.n = n
        return .events(put(member))
    }

    /// The client itself has changed what it sends: the others are told by an event, the client by the answer alone.
    mutating func changedItself(n: Int64) -> Outcome {
        guard n > self.n else { return .old }
        latest = max(latest, n)
        guard n == self.n + 1 else { return .gap([]) }
        self.n = n
        return .events([])
    }

    /// A user has left.
    mutating func left(uid: UInt32, _ reason: MediaLeaveReason, n: Int64) -> Outcome {
        guard n > self.n else { return .old }
        latest = max(latest, n)
        guard n == self.n + 1 else { return .gap(remove(uid, reason)) }
        self.n = n
        return .events(remove(uid, reason))
    }

    /// Statistics tell the number of the last change.
    mutating func stands(at n: Int64) -> Outcome {
        guard n > self.n else { return .old }
        latest = max(latest, n)
        return .gap([])
    }

    /// Takes the whole roster, and tells of what is different.
    /// - Parameter isOtherNode: whether it is of another node, whose numbers say nothing about those of before.
    mutating func replace(with copy: RosterCopy, isOtherNode: Bool) -> [MediaEvent] {
        // Changes that came while the copy was on its way are newer than it.
        guard isOtherNode || copy.n >= n else { return [] }
        n = copy.n
        latest = isOtherNode ? n : max(latest, n)
        let there = Set(copy.members.map(\.uid))
        let gone = order.filter { !there.contains($0) }.flatMap { remove($0, .dropped) }
        return gone + copy.members.flatMap { put($0) }
    }

    private mutating func put(_ member: RosterMember) -> [MediaEvent] {
        guard member.uid != own else { return [] }
        guard let before = flags[member.uid] else {
            guard order.count < Self.bound else { return [] }
            flags[member.uid] = member.flags
            order.append(member.uid)
            return [Self.arrival(member)]
        }
        flags[member.uid] = member.flags
        return Self.changes(of: member.uid, from: before, to: member.flags)
    }

    private mutating func remove(_ uid: UInt32, _ reason: MediaLeaveReason) -> [MediaEvent] {
        guard flags.removeValue(forKey: uid) != nil else { return [] }
        order.removeAll { $0 == uid }
        return [.userLeft(uid: uid, reason)]
    }

    private static func arrival(_ member: RosterMember) -> MediaEvent {
        .userJoined(
            MediaUser(
                uid: member.uid, isAudioMuted: member.flags.contains(.audioMuted),
                isVideoMuted: member.flags.contains(.videoMuted), hasVideo: member.flags.contains(.videoEnabled)))
    }

    private static func changes(of uid: UInt32, from before: MediaFlags, to after: MediaFlags) -> [MediaEvent] {
        let changed = before.symmetricDifference(after)
        var events: [MediaEvent] = []
        if changed.contains(.audioMuted) { events.append(.audioMuted(uid: uid, after.contains(.audioMuted))) }
        if changed.contains(.videoMuted) { events.append(.videoMuted(uid: uid, after.contains(.videoMuted))) }
        if changed.contains(.videoEnabled) { events.append(.videoEnabled(uid: uid, after.contains(.videoEnabled))) }
        return events
    }
}
