import SignalingProtocol
import Testing

@testable import ClusterState

@Suite struct BusPartitionTests {
    @Test func aSingleRedisHasOnePartitionWhoseKeysHaveNoTag() throws {
        let bus = BusLayout.single
        #expect(bus.partitions == [.whole])
        #expect(bus.redis == .current)
        var isAsked = false
        func subject() -> Subject {
            isAsked = true
            return .bridge(BridgeID("b"))
        }
        let partition = bus.partition(of: subject())
        #expect(!isAsked)
        #expect(KeySpace.commands(.presence, in: partition) == "cmd:presence")
        #expect(KeySpace.posts(.presence, in: partition) == "post:presence")
        #expect(KeySpace.due(.presence, in: partition) == "due:presence")
        #expect(KeySpace.mirror(.changes(.presence), in: partition) == "mirror:presence")
        #expect(KeySpace.setAside(.presence, in: partition) == "dead:presence")
        #expect(Mirror.changes(.presence).entries(in: partition) == ClusterBounds.mirrorEntries)
        #expect(KeySpace.mirror(.messages, in: partition) == "mirror:messages")
        #expect(Mirror.messages.entries(in: partition) == ClusterBounds.messageMirrorEntries)
        #expect(KeySpace.topic(.gateway(GatewayID("g1")), in: partition) == "gateway:g1:events")
        #expect(bus.topics(of: GatewayID("g1")) == ["gateway:g1:events"])
        #expect(bus.topics(of: BridgeID("b1")) == ["bridge:b1:events"])
    }

    @Test(arguments: [1, 2, 24, 96]) func theKeysOfAPartitionAreInItsSlots(count: Int) {
        let bus = BusLayout.cluster(partitions: count)
        #expect(bus.partitions.count == count)
        for (number, partition) in bus.partitions.enumerated() {
            #expect(partition.number == number)
            #expect(bus.partition(ofSlot: partition.slot) == partition)
            #expect(Mirror.changes(.presence).entries(in: partition) == ClusterBounds.partitionMirrorEntries)
            #expect(Mirror.messages.entries(in: partition) == ClusterBounds.partitionMessageMirrorEntries)
            let gateway = AskerID.gateway(GatewayID("g1")), bridge = AskerID.bridge(BridgeID("b1"))
            let names = [
                KeySpace.commands(.presence, in: partition), KeySpace.posts(.presence, in: partition),
                KeySpace.setAside(.presence, in: partition), KeySpace.due(.presence, in: partition),
                KeySpace.mirror(.changes(.presence), in: partition), KeySpace.topic(gateway, in: partition),
                KeySpace.topic(bridge, in: partition),
            ]
            for name in names { #expect(KeySlot.of(name) == partition.slot) }
            // Replies come on a topic to which the process is subscribed anyway.
            #expect(bus.topics(of: GatewayID("g1")).contains(KeySpace.topic(gateway, in: partition)))
            #expect(bus.topics(of: BridgeID("b1")).contains(KeySpace.topic(bridge, in: partition)))
        }
        #expect(bus.redis.flavour == .cluster)
        #expect(bus.redis.partitions == count)
    }

    @Test func aGatewayHasATopicInTheSlotOfEachUser() throws {
        let user = UserKey(app: try AppID("app"), account: try Account("alice"))
        let slot = KeySpace.slot(of: .user(user))
        #expect(slot == KeySlot.of(KeySpace.tag(user)))
        let topics = BusLayout.cluster().topics(of: GatewayID("g1"))
        #expect(topics.count == Buckets.count)
        let tag = KeySpace.tag(user).prefix { $0 != "}" }
        #expect(topics.contains("\(tag)}g:g1"))
    }

    @Test func theSlotOfASubjectIsThatOfItsKeys() throws {
        let app = try AppID("app")
        let channel = ChannelKey(app: app, name: try ChannelName("room 1"))
        #expect(KeySpace.slot(of: .channel(channel)) == KeySlot.of(ChannelKeys(channel).members))
        #expect(KeySpace.slot(of: .app(app)) == KeySlot.of("a:app"))
        #expect(KeySpace.slot(of: .gateway(GatewayID("g1"))) == KeySlot.of(KeySpace.lease(GatewayID("g1"))))
        #expect(KeySpace.slot(of: .bridge(BridgeID("b1"))) == KeySlot.of(KeySpace.commands(BridgeID("b1"))))
        #expect(KeySpace.slot(of: .tagged("{a:app:i:c:x:y}")) == KeySlot.of("{a:app:i:c:x:y}:call"))
    }
}
