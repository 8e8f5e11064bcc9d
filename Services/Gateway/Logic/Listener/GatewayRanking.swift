package import ClusterState
package import SignalingProtocol

/// The order in which a channel or an app prefers gateways.
package typealias GatewayRanking = RendezvousRanking<GatewayID>

extension GatewayRanking {
    package init(_ ids: some Sequence<GatewayID>) { self.init(ids, name: \.rawValue) }
}
