internal import ClusterState
package import Pacing
package import SignalingProtocol

/// The media nodes that a shard knows to be alive, and which of them a channel is on: the first one of the channel's
/// order (``ClusterState/RendezvousRanking``) that takes participants. So all gateways choose the same one.
package struct MediaNodes: Sendable {
    /// How long a node is believed in that the list of nodes does not contain any more: a list that came back empty,
    /// because Redis did, does not move running calls.
    package static let patience = LocalTime.Span(.seconds(3))
    /// How old the list may be that a channel is placed by.
    package static let freshness = LocalTime.Span(.seconds(1))
    /// A node with this load takes nobody.
    package static let fullLoad = 1000

    private struct Known {
        var load: Int
        var isDraining: Bool
        var seen: LocalTime
    }

    private var nodes: [MediaNodeID: Known] = [:]
    private var listed = LocalTime.distantPast

    /// Knows no node.
    package init() {}

    /// Whether the list must be read before a channel is placed.
    package func isStale(now: LocalTime) -> Bool { now - listed > Self.freshness }

    /// Takes the list of living nodes, with the load of each, 0 to 1000.
    package mutating func take(
        _ living: [(id: MediaNodeID, load: Int, isDraining: Bool)], now: LocalTime
    ) {
        listed = now
        for node in living { nodes[node.id] = Known(load: node.load, isDraining: node.isDraining, seen: now) }
        nodes = nodes.filter { now - $0.value.seen <= Self.patience }
    }

    /// The list could not be read: who was alive is believed in until it can be, and for as long afterwards as a
    /// node needs to list itself again.
    package mutating func isUnreadable(now: LocalTime) {
        for id in nodes.keys { nodes[id]?.seen = now }
    }

    /// A node has said that it drains, or is gone: it is passed over, whatever the list says until it is read again.
    package mutating func isLeaving(_ node: MediaNodeID) { nodes[node]?.isDraining = true }

    /// The node that a channel is on.
    /// - Parameter avoid: nodes that the client could not reach; one of them is chosen when there is no other.
    /// - Returns: nil when no node takes participants.
    package func node(
        for channel: MediaChannelKey, avoiding avoid: [MediaNodeID] = [], now: LocalTime
    ) -> MediaNodeID? {
        let open = nodes.filter {
            now - $0.value.seen <= Self.patience && !$0.value.isDraining && $0.value.load < Self.fullLoad
        }.keys
        let reachable = open.filter { !avoid.contains($0) }
        let candidates = reachable.isEmpty ? Array(open) : reachable
        // Neither the app's id nor the channel's name has a line feed.
        return RendezvousRanking(candidates, name: \.rawValue)
            .best(1, for: "\(channel.app)\n\(channel.name)").first
    }
}
