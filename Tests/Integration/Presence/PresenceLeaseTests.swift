import BusProtocol
import ClusterBus
import ClusterState
import Pacing
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// Gateways' leases, and the list of living gateways that discovery reads.
@Suite struct PresenceLeaseTests {
    @Test func discoveryNamesWhoLivesAndDoesNotDrain() async throws {
        try await ServicesStage.run(instances: 0) { stage in
            let (one, two) = (try await stage.gateway("g1"), try await stage.gateway("g2"))
            let leases = one.leases
            let busy = GatewayLease(host: "10.0.0.1", port: 8000, connections: 17)
            let failing = GatewayLease(
                host: "10.0.0.1", port: 8000, connections: 17, openHooks: [try AppID("a")])
            let wasHeld = try await leases.heartbeat(one.id, failing)
            #expect(wasHeld)
            // Discovery has no use for hooks.
            #expect(
                try await leases.sample().sorted { $0.id < $1.id } == [
                    LiveGateway(id: one.id, lease: busy), LiveGateway(id: two.id, lease: .ofTest),
                ])
            #expect(try await leases.heartbeat(one.id, busy, isDraining: true))
            #expect(try await leases.sample().map(\.id) == [two.id])
            #expect(try await stage.lease(of: one.id).bool("draining"))
            try await leases.leave(two.id)
            #expect(try await leases.sample().isEmpty)
            #expect(await leases.read(two.id).map { $0?.lease } == [.absent])
            #expect(try await !leases.heartbeat(two.id, .ofTest))
            for id in [one.id, two.id] {
                guard case .alive(let remaining)? = await leases.read(id)[0]?.lease else {
                    Issue.record("the lease of \(id) has ended")
                    continue
                }
                #expect(remaining > .zero && remaining <= GatewayID.fleet.timeToLive)
            }
        }
    }

    @Test func aLeaseIsARecordAndDiscoveryLeavesOutWhatIsNone() async throws {
        try await ServicesStage.run(instances: 0) { stage in
            let (one, two) = (try await stage.gateway("g1"), try await stage.gateway("g2"))
            let record = "4:host9:127.0.0.14:port4:800011:connections1:0"
            let lease = try #require(try await stage.redis("GET", KeySpace.lease(one.id)).string)
            #expect(lease.hasPrefix("9:heartbeat13:1") && lease.hasSuffix("8:draining1:0" + record))
            let records = KeySpace.gatewayRecords
            #expect(try await stage.redis("HGET", records, one.id.rawValue).string == record)
            // Of a later release, with a field that this one does not know.
            _ = try await stage.redis(
                "HSET", records, one.id.rawValue, "4:zone1:a4:host9:127.0.0.24:port4:900011:connections1:5")
            // Of an earlier release, which wrote JSON.
            _ = try await stage.redis("HSET", records, two.id.rawValue, #"{"host":"127.0.0.1","port":1}"#)
            let later = GatewayLease(host: "127.0.0.2", port: 9000, connections: 5)
            #expect(try await one.leases.sample() == [LiveGateway(id: one.id, lease: later)])
        }
    }

    @Test func discoveryReadsSomeOfManyAndRemovesTheEnded() async throws {
        try await ServicesStage.run(instances: 0) { stage in
            let gateway = try await stage.gateway("g")
            let leases = gateway.leases
            let size = GatewayLeases.sampleSize
            let many = (0..<3 * size).map { GatewayID("many-\($0)") }
            for id in many { try await leases.announce(id, .ofTest) }
            var seen: Set<GatewayID> = []
            try await waitUntil("all of them to be drawn") {
                let sample = try await leases.sample().map(\.id)
                #expect(sample.count == size && Set(sample).count == size)
                seen.formUnion(sample)
                return seen.count == many.count + 1 ? nil : "\(seen.count)"
            }
            for id in many { _ = try await stage.redis("ZADD", KeySpace.gateways, "1", id.rawValue) }
            try await waitUntil("the removal") {
                // Meanwhile none of them is named.
                #expect(try await leases.sample().allSatisfy { $0.id == gateway.id })
                let left = try await stage.redis("HLEN", KeySpace.gatewayRecords).int
                return left == 1 ? nil : "\(left ?? 0) left"
            }
            #expect(try await leases.sample().map(\.id) == [gateway.id])
            #expect(try await stage.redis("ZCARD", KeySpace.gateways).int == 1)
        }
    }

    @Test func whatSomeGatewaysTellNow() async throws {
        try await ServicesStage.run(instances: 0) { stage in
            let (one, two, three) = (
                try await stage.gateway("g1"), try await stage.gateway("g2"), try await stage.gateway("g3")
            )
            let leases = one.leases
            #expect(try await leases.list().sorted() == [one.id, two.id, three.id])
            let busy = GatewayLease(host: "10.0.0.1", port: 8000, connections: 17, openHooks: [try AppID("a")])
            #expect(try await leases.heartbeat(one.id, busy))
            #expect(try await leases.heartbeat(two.id, busy, isDraining: true))
            try await three.id.expire(on: stage.connection)
            let found = try await leases.leases(of: [one.id, two.id, three.id, GatewayID("unknown")])
            #expect(found == [one.id: busy])
            #expect(try await leases.list().sorted() == [one.id, three.id], "the one that drains is not on the list")
            #expect(try await leases.leases(of: []).isEmpty)
        }
    }

    @Test func anEndedLeaseTellsItsLastHeartbeatUntilItIsForgotten() async throws {
        try await ServicesStage.run(instances: 0) { stage in
            let gateway = try await stage.gateway("g")
            let leases = gateway.leases
            let heartbeat = RedisTime(milliseconds: try await stage.lease(of: gateway.id).int64("heartbeat"))
            #expect(try await leases.forget(gateway.id).isEmpty)
            #expect(try await stage.redis("EXISTS", KeySpace.lease(gateway.id)).int == 1, "a living lease stays")
            try await gateway.id.expire(on: stage.connection)
            #expect(await leases.read(gateway.id).map { $0?.lease } == [.expired(lastHeartbeat: heartbeat)])
            #expect(try await leases.forget(gateway.id) == [0])
            #expect(try await leases.forget(gateway.id).isEmpty, "another has done so before")
            #expect(await leases.read(gateway.id).map { $0?.lease } == [.absent])
            #expect(try await !leases.heartbeat(gateway.id, .ofTest))
            try await gateway.id.expire(on: stage.connection)
            #expect(try await !leases.heartbeat(gateway.id, .ofTest), "an ended lease, though it was not forgotten")
        }
    }

    /// The timer's server may be away while the lease's is not; then no heartbeat postpones the timer.
    @Test func anEarlyCheckIsRepeated() async throws {
        try await ServicesStage.run(instances: 1) { stage in
            let gateway = try await stage.gateway("g1")
            _ = try await stage.login("alice", on: gateway)
            let timer = "gateway \(gateway.id)"
            _ = try await stage.redis("ZADD", KeySpace.due(.presence), "1", timer)
            let heartbeat = try await stage.lease(of: gateway.id).int64("heartbeat")
            let end = Double(heartbeat + GatewayID.fleet.watchDelay.wholeMilliseconds)
            try await waitUntil("the next check's time") {
                let score = try await stage.redis("ZSCORE", KeySpace.due(.presence), timer).string.flatMap(Double.init)
                // While the check runs, the timer has the claim's score, with a half.
                guard let score, score.truncatingRemainder(dividingBy: 1) == 0 else { return "none" }
                return abs(score - end) < 1000 ? nil : "\(score - end) ms after the lease's end"
            }
            // Without a further heartbeat the session is detached.
            try await waitUntil("the detachment") {
                try await stage.sessionField("alice", "state") == "detached" ? nil : "online"
            }
        }
    }
}

extension ServicesStage {
    /// What a gateway's lease says.
    nonisolated func lease(of gateway: GatewayID) async throws -> FieldReader {
        try FieldReader(encoded: try #require(try await redis("GET", KeySpace.lease(gateway)).bytes))
    }
}
