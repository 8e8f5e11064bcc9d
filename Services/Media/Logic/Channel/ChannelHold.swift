/// A node's claim on a channel: whether the node may let participants in, and when it gives the channel up. All times
/// are milliseconds of one steady clock of the node, not of Redis' clock.
package struct ChannelHold: Equatable, Sendable {
    /// How long a claim lasts without a renewal, in milliseconds. It counts from the request for the last renewal that
    /// Redis has confirmed.
    package static let lease: Int64 = 3000
    /// How long a node keeps a channel without participants, in milliseconds.
    package static let idle: Int64 = 10_000

    package enum State: Equatable, Sendable {
        /// Joins wait for the first answer. Goes to `held` or `lost`.
        case asked
        /// Confirmed. Goes to `unsure` or `lost`.
        case held(until: Int64)
        /// Redis has not answered in time: calls go on, nobody joins. Goes to `held` or `lost`.
        case unsure
        /// Another node has the channel, or it was given up. Final.
        case lost
    }

    /// Redis' answer to the request to hold the channel.
    package enum Answer: Equatable, Sendable {
        case held
        /// The channel's epoch is not ours.
        case taken(epoch: UInt64, node: String)
        /// Redis has come back without the channel: it was written again, with our epoch.
        case restored
    }

    /// The id of this node.
    package let node: String
    package private(set) var epoch: UInt64
    package private(set) var state = State.asked
    private var emptySince: Int64?

    package init(node: String, epoch: UInt64, now: Int64) {
        self.node = node
        self.epoch = epoch
        emptySince = now
    }

    package var takesJoins: Bool {
        switch state {
        case .held: true
        case .asked, .unsure, .lost: false
        }
    }

    /// - Parameter asked: when the request was sent: from then on the lease counts, not from the answer.
    /// - Returns: whether the channel is lost by this: its participants are told `moved`.
    package mutating func answered(_ answer: Answer, asked: Int64) -> Bool {
        guard state != .lost else { return false }
        switch answer {
        case .held, .restored: state = .held(until: asked + Self.lease)
        case .taken(let other, let holder):
            // An answer from before our epoch was written is no news.
            guard other > epoch else { return false }
            guard holder == node else {
                state = .lost
                return true
            }
            // Redis came back empty, and the channel was placed with this node again: its participants notice nothing.
            epoch = other
            state = .held(until: asked + Self.lease)
        }
        return false
    }

    /// - Parameter isEmpty: whether the channel has no participants.
    /// - Returns: whether the channel is to be given up: nobody was in it for ``idle``.
    package mutating func tick(isEmpty: Bool, now: Int64) -> Bool {
        switch state {
        case .held(let until): if now >= until { state = .unsure }
        case .asked, .unsure: break
        case .lost: return false
        }
        guard isEmpty else {
            emptySince = nil
            return false
        }
        guard let since = emptySince else {
            emptySince = now
            return false
        }
        guard now - since >= Self.idle else { return false }
        state = .lost
        return true
    }
}
