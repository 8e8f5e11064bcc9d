import NIOCore
import RedisClient
import TestKit
import Testing

/// The master of a real Redis with Sentinel is replaced under load.
@Suite(.serialized) struct RedisSentinelFailoverTests {
    /// Senders of numbers that may be repeated, and of numbers that may not, and a flow of events.
    private struct Load {
        let repeated: NumberSender
        let plain: NumberSender
        let flow: EventFlow

        init(_ scene: RedisSentinelScene) async throws {
            try await scene.client.verify()
            scene.client.start()
            try await scene.waitForConnection()
            repeated = NumberSender(scene.client, tag: "{r}", isFunction: true, repetition: .seconds(30))
            plain = NumberSender(scene.client, tag: "{p}", isFunction: false)
            flow = EventFlow(scene.client)
            try await flow.start()
            repeated.start()
            plain.start()
            try await waitForMore("load")
        }

        /// Waits until all go on.
        func waitForMore(_ what: String) async throws {
            let before = (repeated.acknowledged, plain.acknowledged, flow.count)
            try await waitUntil(what, within: .seconds(30)) {
                let more = (
                    repeated.acknowledged - before.0, plain.acknowledged - before.1, flow.count - before.2
                )
                return more.0 > 200 && more.1 > 200 && more.2 > 20 ? nil : "\(more)"
            }
        }

        /// Checks that nothing acknowledged was lost, and that what may be repeated took effect once, in order.
        func finish(_ scene: RedisSentinelScene, master: Int) async throws -> Duration {
            let (gap, lost) = try await end(scene, master: master)
            #expect(lost == 0, "acknowledged and lost")
            return gap
        }

        /// Checks that all took effect once at most, in order, and that none was lost which the client got after a
        /// Sentinel had told it of the failover: it holds those back.
        /// - Returns: the longest time without events, and how many numbers were acknowledged and lost.
        func end(_ scene: RedisSentinelScene, master: Int) async throws -> (gap: Duration, lost: Int) {
            let gap = await flow.finish()
            let sent = try await repeated.finish()
            #expect(sent.filter { $0.error != nil }.isEmpty)
            let kept = try await scene.list("{r}", on: master)
            #expect(kept == Set(kept).sorted(), "each once, in order")
            let once = try await plain.finish()
            let list = try await scene.list("{p}", on: master)
            #expect(list == list.sorted())
            let (keptSet, listSet) = (Set(kept), Set(list))
            let lost =
                sent.filter { !keptSet.contains($0.number) }
                + once.filter { $0.error == nil && !listSet.contains($0.number) }
            if let heard = scene.failovers.all.first {
                #expect(lost.filter { $0.sentAt > heard }.map(\.number) == [], "lost though held back")
            }
            let errors = Set(once.compactMap { $0.error?.code })
            #expect(errors.isSubset(of: [.closed, .timeout]), "only those whose outcome is unknown fail")
            return (gap, lost.count)
        }
    }

    /// With two replicas the second one follows the old master for another second: the old master goes on to take
    /// writes, even with `min-replicas-to-write 1`.
    @Test(arguments: [(1, 0), (2, 1)])
    func aHealthyMasterIsReplaced(_ replicas: Int, _ minReplicas: Int) async throws {
        // Sentinel says a tenth of a second before the promotion what it will do. When this machine is
        // too busy to react in time, the old master acknowledges what is lost; without the reaction it
        // does so for a second, each time.
        var lost = 1
        for _ in 0..<3 where lost > 0 {
            lost = try await replaceHealthyMaster(replicas, minReplicas)
        }
        #expect(lost == 0, "acknowledged and lost")
    }

    /// - Returns: how many numbers were acknowledged and lost.
    private func replaceHealthyMaster(_ replicas: Int, _ minReplicas: Int) async throws -> Int {
        var lost = 0
        try await RedisSentinelScene.run(.init(replicas: replicas, minReplicas: minReplicas)) { scene in
            let load = try await Load(scene)
            try await scene.servers.waitForReplicas()
            // The Sentinel that carries it out is not the first of the URL.
            try await scene.servers.failOver(bySentinel: 1)
            let master = try await scene.servers.waitForAnotherMaster(than: 0)
            try await load.waitForMore("load at the new master")
            let gap: Duration
            (gap, lost) = try await load.end(scene, master: master)
            #expect(gap < .seconds(2) * patience, "events were away for \(gap)")
            #expect(load.flow.missed == 1)
            #expect(scene.log.all.filter { $0.contains("does not continue the data") }.isEmpty)
        }
        return lost
    }

    enum Failure: CaseIterable {
        /// kill -9: the connections break.
        case killed
        /// SIGSTOP: the connections stay open, and nothing is answered; later it goes on, and
        /// still takes itself for the master.
        case frozen
    }

    @Test(arguments: Failure.allCases)
    func aMasterFails(_ failure: Failure) async throws {
        try await RedisSentinelScene.run(.init(replicas: 2, minReplicas: 1)) { scene in
            let load = try await Load(scene)
            let server = scene.servers.servers[0]
            switch failure {
            case .killed: try await server.kill()
            case .frozen: await server.freeze(true)
            }
            let master = try await scene.servers.waitForAnotherMaster(than: 0)
            try await load.waitForMore("load at the new master")
            if failure == .frozen {
                await server.freeze(false)
                try await load.waitForMore("load while the old master is back")
            }
            _ = try await load.finish(scene, master: master)
        }
    }

    @Test func aSentinelIsAway() async throws {
        try await RedisSentinelScene.run { scene in
            let load = try await Load(scene)
            try await scene.servers.sentinels[0].remove()
            try await scene.servers.failOver(bySentinel: 2)
            let master = try await scene.servers.waitForAnotherMaster(than: 0, sentinels: [1, 2])
            try await load.waitForMore("load at the new master")
            let gap = try await load.finish(scene, master: master)
            #expect(gap < .seconds(2) * patience, "events were away for \(gap)")
        }
    }

    /// There and back again: the numbers of nodes and the counts of failovers are used anew.
    @Test func twoFailovers() async throws {
        try await RedisSentinelScene.run { scene in
            let load = try await Load(scene)
            try await scene.servers.failOver()
            let second = try await scene.servers.waitForAnotherMaster(than: 0)
            try await load.waitForMore("load at the new master")
            // Sentinel makes the old master a replica after some ten seconds.
            try await waitUntil("a replica again", within: .seconds(40)) {
                // Sentinel closes the connections of its clients.
                let answer = try? await scene.servers.execute(RedisCommand("INFO", "replication"), on: 0)
                let text = answer?.string ?? "no answer"
                return text.contains("master_link_status:up") ? nil : text
            }
            let third = try await scene.servers.replaceMaster(second)
            #expect(third == 0)
            try await load.waitForMore("load at the first master")
            _ = try await load.finish(scene, master: third)
        }
    }

    /// All data are lost, and a line says so.
    @Test func aReplicaWithoutDataIsPromoted() async throws {
        try await RedisSentinelScene.run(.init(isSynced: false)) { scene in
            try await scene.client.verify()
            #expect(scene.log.all.contains { $0.contains("has never had the master's data") })
            scene.client.start()
            try await scene.waitForConnection()
            _ = try await scene.client.execute(RedisCommand("SET", "k", "v"))
            try await scene.servers.failOver()
            _ = try await scene.servers.waitForAnotherMaster(than: 0)
            try await waitUntil("the new master") {
                scene.log.all.contains { $0.contains("does not continue the data") }
                    ? nil : "\(scene.log.all)"
            }
            #expect(try await scene.client.execute(RedisCommand("GET", "k")).isNull)
        }
    }
}
