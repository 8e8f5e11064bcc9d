/// Which videos one receiver gets, and in which slots.
///
/// A video keeps its slot as long as the receiver wants it. A video that gets a slot is sent from its next key frame
/// on.
package struct VideoView: Equatable, Sendable {
    /// What is to be done with a slot.
    package enum Action: Equatable, Sendable {
        /// Send this user's video in the slot, from its next key frame on, and ask the user for that key frame.
        case show(uid: UInt32, slot: Int)
        case clear(slot: Int)
    }

    /// The greatest number of wishes that are kept.
    package static let maxWishes = 64

    /// Wanted videos, best first; nil: all, by who spoke last.
    package private(set) var wishes: [UInt32]?
    package private(set) var slots: [UInt32?]
    /// Slots that the receiver's bandwidth has room for, from the first wish on.
    package private(set) var affordable: Int

    package init(slots count: Int) {
        slots = [UInt32?](repeating: nil, count: count)
        affordable = count
    }

    /// Takes the wishes of the receiver; those beyond ``maxWishes``, and repeated ones, are left out.
    package mutating func wish(_ uids: [UInt32]?) {
        var seen: Set<UInt32> = []
        wishes = uids.map { Array($0.filter { seen.insert($0).inserted }.prefix(Self.maxWishes)) }
    }

    /// Sets how many slots the bandwidth has room for.
    package mutating func afford(_ count: Int) { affordable = min(max(0, count), slots.count) }

    /// Chooses anew.
    /// - Parameter publishers: those who send video now, last speaker first, without the receiver.
    package mutating func choose(from publishers: [UInt32]) -> [Action] {
        let sending = Set(publishers)
        let wanted = (wishes?.filter(sending.contains) ?? publishers).prefix(affordable)
        var actions: [Action] = []
        var missing = Array(wanted)
        for (slot, uid) in slots.enumerated() {
            guard let uid else { continue }
            if let place = missing.firstIndex(of: uid) {
                missing.remove(at: place)
            } else {
                slots[slot] = nil
                actions.append(.clear(slot: slot))
            }
        }
        for uid in missing {
            guard let slot = slots.firstIndex(of: nil) else { break }
            slots[slot] = uid
            actions.removeAll { $0 == .clear(slot: slot) }
            actions.append(.show(uid: uid, slot: slot))
        }
        return actions
    }
}

/// How many videos the bandwidth of a receiver has room for.
///
/// Fewer at once, more only when there is 20 % to spare for 5 s. Audio is never part of this. Times are milliseconds.
package struct VideoBudget: Sendable {
    /// How much more than needed must be there before a slot is switched on again.
    package static let margin = 1.2
    package static let patience: Int64 = 5000

    package private(set) var count: Int
    private let slots: Int
    private var roomSince: Int64?

    package init(slots: Int) {
        self.slots = slots
        count = slots
    }

    /// Judges an estimate of the receiver.
    /// - Parameters:
    ///   - bitrate: what the receiver says that it can take, in bits per second; nil: it
    ///     says nothing, there is no bound.
    ///   - audio: what its audio takes.
    ///   - videos: what the wanted videos take, best first; at most as many as there are slots count.
    /// - Returns: how many of the videos may be sent.
    package mutating func judge(bitrate: UInt64?, audio: UInt64, videos: [UInt64], now: Int64) -> Int {
        guard let bitrate else {
            roomSince = nil
            count = slots
            return count
        }
        let wanted = Array(videos.prefix(slots))
        let fits = Self.fitting(wanted, in: Double(bitrate) - Double(audio))
        if fits < min(count, wanted.count) {
            count = fits
            roomSince = nil
            return count
        }
        guard count < slots, wanted.count > count else {
            roomSince = nil
            return count
        }
        guard Self.fitting(wanted, in: Double(bitrate) / Self.margin - Double(audio)) > count else {
            roomSince = nil
            return count
        }
        guard let since = roomSince else {
            roomSince = now
            return count
        }
        if now - since >= Self.patience {
            count += 1
            roomSince = nil
        }
        return count
    }

    /// How many of the first videos fit.
    private static func fitting(_ videos: [UInt64], in room: Double) -> Int {
        var sum = 0.0
        return videos.prefix {
            sum += Double($0)
            return sum <= room
        }.count
    }
}
