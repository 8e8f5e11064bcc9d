internal import SignalingClient

/// The calls of a session, needed by obsolete methods that identify the other party only by its number.
struct AgoraCalls {
    struct Entry: Equatable {
        var channel: String
        var peer: String
        var uid: UInt32
    }

    /// The largest number of remembered calls; beyond it, the oldest is forgotten.
    static let bound = 64
    private(set) var entries: [Entry] = []

    /// Records that this user has invited someone.
    mutating func invited(_ peer: String, to channel: String, uid: UInt32) {
        entries.removeAll { $0.channel == channel && $0.peer == peer }
        if entries.count == Self.bound { entries.removeFirst() }
        entries.append(Entry(channel: channel, peer: peer, uid: uid))
    }

    /// Records that a call has ended.
    mutating func ended(_ peer: String, in channel: String) {
        entries.removeAll { $0.channel == channel && $0.peer == peer }
    }

    /// Updates the calls after an event.
    mutating func note(_ event: CallEvent) {
        switch event.kind {
        case .invited, .delivered, .accepted: invited(event.peer, to: event.channel, uid: event.uid)
        case .refused, .ended, .failed: ended(event.peer, in: event.channel)
        case .message: break
        }
    }

    /// The latest call with the party of that number, or else the latest of all calls.
    func latest(uid: UInt32) -> Entry? { entries.last { $0.uid == uid } ?? entries.last }
}
