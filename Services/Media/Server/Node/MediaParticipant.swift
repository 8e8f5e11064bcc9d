internal import MediaLogic
internal import SignalingProtocol

/// A participant of a node, from its join to its end.
struct MediaParticipant: Sendable {
    /// The participant's number in the loop.
    let id: UInt64
    let channel: MediaChannelKey
    let uid: UInt32
    /// The uid that it has asked for, which its keys are for.
    let keyUID: UInt32
    /// The process that gets its events.
    var asker: AskerID
    /// What it must know to resume or restart; 32 hexadecimal digits.
    let secret: String
    /// When the service ends that its key is for, in Unix seconds; 0 for never.
    var expiry: Int64
    /// Since when that service has ended: it neither sends nor hears.
    var keyEnded: ContinuousClock.Instant?
    let joined: ContinuousClock.Instant
    /// What of its path stays when it begins anew.
    let kept: KeptPath
    /// The command that last began its path anew, and its answer: it may be delivered again.
    var lastRestart: (command: CommandID, answer: MediaRestarted)?
    /// What had been counted at the last statistics.
    var counted = MediaUplinkCounts()

    /// What the loop lets it do.
    func allowed(_ flags: MediaFlags) -> UInt32 { keyEnded == nil ? kept.allowed(flags) : 0 }
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
