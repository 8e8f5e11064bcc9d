import ClusterState

/// Where a channel lives. Times are milliseconds of the Redis clock.
package enum MediaPlacement {
    /// How long a node holds a channel, and its own lease, without renewing them.
    package static let lease: Int64 = 3000

    /// A node by its lease.
    package struct Node: Equatable, Sendable {
        package var id: String
        /// Its load, 0...1000: the greatest part of any of its bounds that is used.
        package var load: Int
        package var isDraining: Bool
        /// When its lease ends.
        package var until: Int64

        package init(id: String, load: Int, isDraining: Bool = false, until: Int64) {
            self.id = id
            self.load = load
            self.isDraining = isDraining
            self.until = until
        }
    }

    /// The holder of a channel.
    package struct Holding: Equatable, Sendable {
        package var node: String
        /// Grows with each holder, so that a node knows that it has lost the channel.
        package var epoch: UInt64
        package var until: Int64

        package init(node: String, epoch: UInt64, until: Int64) {
            self.node = node
            self.epoch = epoch
            self.until = until
        }
    }

    /// Places a channel: with its holder while it holds it, else with the first node of the channel's order
    /// (``ClusterState/RendezvousRanking``) that takes channels.
    ///
    /// So all gateways choose the same node, and if Redis comes back empty, a running call's node is chosen again as long as it
    /// lives and takes channels.
    /// - Parameters:
    ///   - channel: names the channel among all of the cluster: the app and the channel's name.
    ///   - avoid: nodes that the client could not reach; they are taken when there is no other. A holder is never avoided: the
    ///     channel is where the others are.
    ///   - pick: a random number below its argument.
    /// - Returns: nil when no node takes channels.
    package static func place(
        channel: String, holding: Holding?, nodes: [Node], avoid: Set<String> = [], now: Int64
    ) -> Holding? {
        if let holding, holding.until > now { return holding }
        let open = nodes.filter { $0.until > now && !$0.isDraining && $0.load < 1000 }
        let reachable = open.filter { !avoid.contains($0.id) }
        let candidates = reachable.isEmpty ? open : reachable
        guard let node = RendezvousRanking(candidates, name: \.id).best(1, for: channel).first else { return nil }
        // A first epoch is the clock, so that epochs do not fall if Redis comes back empty.
        let epoch = max((holding?.epoch ?? 0) + 1, holding == nil ? UInt64(max(0, now)) : 0)
        return Holding(node: node.id, epoch: epoch, until: now + lease)
    }
}

/// What a node knows about a channel that it was given: whether it may let participants in, and when it gives it up. Times
/// are milliseconds of a steady clock.
package struct ChannelHold: Equatable, Sendable {
    /// How long a channel without participants is kept.
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
        case .held, .restored: state = .held(until: asked + MediaPlacement.lease)
        case .taken(let other, let holder):
            // An answer from before our epoch was written is no news.
            guard other > epoch else { return false }
            guard holder == node else {
                state = .lost
                return true
            }
            // Redis came back empty, and the channel was placed with this node again: its participants notice nothing.
            epoch = other
            state = .held(until: asked + MediaPlacement.lease)
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
