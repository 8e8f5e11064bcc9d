import SignalingProtocol
import Testing

@testable import ClusterState

/// Where the leases of a process are.
@Suite struct LeaseFleetTests {
    @Test func aSingleRedisHasOneLeaseOfEach() {
        let places = GatewayID.fleet.places(of: GatewayID("g1"), in: .single)
        #expect(places.map(\.key) == ["{g:g1}:lease"])
        #expect(places[0].partition == .whole)
        #expect(BridgeID.fleet.places(of: BridgeID("b1"), in: .single).map(\.key) == ["{bridge:b1}:lease"])
    }

    @Test(arguments: [3, 6, 12]) func aGatewaysLeasesAreAtDifferentMasters(masters: Int) {
        let bus = BusLayout.cluster()
        for number in 0..<200 {
            let gateway = GatewayID("gw-\(number)")
            let places = GatewayID.fleet.places(of: gateway, in: bus)
            #expect(places.map(\.number) == [0, 1, 2])
            #expect(places[0].key == KeySpace.lease(gateway))
            #expect(places.allSatisfy { $0.slot == KeySlot.of($0.key) && KeySpace.isOwn($0.key) })
            #expect(places.allSatisfy { bus.partition(ofSlot: $0.slot) == $0.partition })
            #expect(Set(places.map { Int($0.slot) * masters / KeySlot.count }).count == 3)
            #expect(Set(places.map { Int($0.partition.slot) * masters / KeySlot.count }).count == 3)
        }
    }

    @Test func theKeysOfFurtherLeasesDoNotChange() {
        let places = GatewayID.fleet.places(of: GatewayID("g1"), in: .cluster())
        #expect(places.map(\.slot) == [15_956, 4780, 10_240])
        #expect(places.map(\.key) == ["{g:g1}:lease", "{32h}lease:gateway:g1:1", "{7l1}lease:gateway:g1:2"])
    }

    @Test func aBridgeHasOneLeaseInAClusterToo() {
        #expect(BridgeID.fleet.places(of: BridgeID("b1"), in: .cluster()).map(\.key) == ["{bridge:b1}:lease"])
    }

    @Test func aClusterMayHaveFewerPartitionsThanLeases() {
        let places = GatewayID.fleet.places(of: GatewayID("g1"), in: .cluster(partitions: 1))
        #expect(Set(places.map(\.partition.number)) == [0] && Set(places.map(\.key)).count == 3)
    }
}
