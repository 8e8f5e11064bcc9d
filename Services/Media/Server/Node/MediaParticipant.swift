internal import MediaLogic
internal import SignalingProtocol

/// A participant of a node, from its join to its end.
struct MediaParticipant: Sendable {
    /// The participant's number in the loop.
    let id: UInt64
    let channel: MediaChannelKey
    let uid: UInt32
    /// The process that gets its events.
    let asker: AskerID
    /// What it must know to resume, restart or renew; 32 hexadecimal digits.
    let secret: String
    /// When the service ends that its key is for, in Unix seconds; 0 for never.
    let expiry: Int64
    let joined: ContinuousClock.Instant
}

/// A channel of a node.
struct MediaChannel: Sendable {
    /// The channel's number in the loop.
    let id: UInt64
    var roster: MediaRoster
    /// Its participants by the process that gets their events.
    private(set) var participants: [AskerID: Set<ParticipantID>] = [:]

    init(id: UInt64, roster: MediaRoster) {
        self.id = id
        self.roster = roster
    }

    mutating func insert(_ pid: ParticipantID, of asker: AskerID) { participants[asker, default: []].insert(pid) }

    mutating func remove(_ pid: ParticipantID, of asker: AskerID) {
        participants[asker]?.remove(pid)
        if participants[asker]?.isEmpty ?? false { participants[asker] = nil }
    }
}
