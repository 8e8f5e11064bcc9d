/// The calls of a session, for the obsolete methods that name the other party by its number only.
struct AgoraCalls {
    struct Entry: Equatable {
        var channel: String
        var peer: String
        var uid: UInt32
    }

    /// The most calls that are remembered; the oldest are forgotten.
    static let bound = 64
    private(set) var entries: [Entry] = []

    /// This user has invited somebody.
    mutating func invited(_ peer: String, to channel: String, uid: UInt32) {
        entries.removeAll { $0.channel == channel && $0.peer == peer }
        if entries.count == Self.bound { entries.removeFirst() }
        entries.append(Entry(channel: channel, peer: peer, uid: uid))
    }

    /// A call is over.
    mutating func ended(_ peer: String, in channel: String) {
        entries.removeAll { $0.channel == channel && $0.peer == peer }
    }

    /// Something happened in a call.
    mutating func note(_ event: CallEvent) {
        switch event.kind {
        case .invited, .delivered, .accepted: invited(event.peer, to: event.channel, uid: event.uid)
        case .refused, .ended, .failed: ended(event.peer, in: event.channel)
        case .message: break
        }
    }

    /// The latest call with that number; the latest of all when none has it.
    func latest(uid: UInt32) -> Entry? { entries.last { $0.uid == uid } ?? entries.last }
}
