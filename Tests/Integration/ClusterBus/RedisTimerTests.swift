import ClusterBus
import ClusterState
import NIOCore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct RedisTimerTests {
    private static func now(_ scene: RedisScene) async throws -> RedisTime { try await scene.connection.time() }

    /// Long ago, a time for each number.
    private static func past(_ number: Int64) -> RedisTime { RedisTime(milliseconds: number) }

    @Test func claimedInOrderWhenDue() async throws {
        try await RedisScene.run(libraries: [.timers]) { scene in
            let timers = DueTimers(service: .invitation, connection: scene.connection)
            let now = try await Self.now(scene)
            try await timers.schedule("b c", at: now + .milliseconds(-10))
            try await timers.schedule("a", at: now + .milliseconds(-20))
            try await timers.schedule("later", at: now + .seconds(60))
            try await timers.schedule("cancelled", at: now + .milliseconds(-30))
            try await timers.cancel("cancelled")
            #expect(try await timers.claim(limit: 1).map(\.member) == ["a"])
            let second = try await timers.claim(limit: 10)
            #expect(second.map(\.member) == ["b c"])
            #expect(second.allSatisfy { $0.claimEnd >= now + .seconds(10) })
            #expect(try await timers.claim() == [])
        }
    }

    @Test func aDeadClaimantLosesItAndALateOneRemovesNothing() async throws {
        try await RedisScene.run(libraries: [.timers]) { scene in
            let timers = DueTimers(service: .invitation, connection: scene.connection)
            try await timers.schedule("a", at: Self.past(1))
            let first = try await timers.claim(lease: .milliseconds(100))
            #expect(first.map(\.member) == ["a"])
            var second: [DueTimer] = []
            try await waitUntil("the end of the lease") {
                second = try await timers.claim()
                return second.isEmpty ? "still leased" : nil
            }
            #expect(second.map(\.member) == ["a"])
            let key = KeySpace.due(.invitation)
            try await timers.done(first)
            #expect(try await scene.connection.execute(RedisCommand("ZCARD", .string(key))).int == 1)
            try await timers.done(second)
            #expect(try await scene.connection.execute(RedisCommand("ZCARD", .string(key))).int == 0)
        }
    }

    @Test func setAnewWhileClaimedStays() async throws {
        try await RedisScene.run(libraries: [.timers]) { scene in
            let timers = DueTimers(service: .presence, connection: scene.connection)
            try await timers.schedule("a", at: Self.past(1))
            let claimed = try await timers.claim()
            try await timers.schedule("a", at: Self.past(5))
            try await timers.done(claimed)
            #expect(try await timers.claim().map(\.member) == ["a"])
        }
    }

    @Test func setAnewForTheVeryEndOfTheClaimStays() async throws {
        try await RedisScene.run(libraries: [.timers]) { scene in
            let timers = DueTimers(service: .presence, connection: scene.connection)
            try await timers.schedule("a", at: Self.past(1))
            let claimed = try await timers.claim(lease: .milliseconds(1))
            for timer in claimed {
                try await timers.schedule(timer.member, at: timer.claimEnd)
            }
            try await timers.done(claimed)
            try await waitUntil("its time") { try await timers.claim().map(\.member) == ["a"] ? nil : "nothing is due" }
        }
    }

    @Test func timersOutliveTheirRunnerAndTheServer() async throws {
        try await RedisScene.run(libraries: [.timers]) { scene in
            let timers = DueTimers(service: .presence, connection: scene.connection)
            let fired = Recording<String>()
            for number in 0..<250 { try await timers.schedule("t-\(number)", at: Self.past(Int64(number))) }
            // This process claims the timer and dies before it acts.
            _ = try await timers.claim(limit: 50, lease: .milliseconds(500))
            try await scene.server.kill()
            try await scene.server.start()
            let runner = Task {
                await timers.run(every: .milliseconds(20), lease: .seconds(1)) { timer in
                    if timer.member == "t-7", !fired.all.contains("failed") {
                        fired.add("failed")
                        throw SignalingError.timeout()
                    }
                    fired.add(timer.member)
                }
            }
            try await waitUntil("all timers") {
                let missing = Set((0..<250).map { "t-\($0)" }).subtracting(fired.all)
                return missing.isEmpty ? nil : "\(missing.count) missing"
            }
            try await waitUntil("an empty set") {
                let left = try await scene.connection.execute(RedisCommand("ZCARD", "due:presence")).int
                return left == 0 ? nil : "\(left ?? -1) left"
            }
            runner.cancel()
            await runner.value
            #expect(fired.all.count == 251)
        }
    }

    @Test func ownTimersFireInTimeAndThoseOfOthersWithTheNextLook() async throws {
        try await RedisScene.run(libraries: [.timers]) { scene in
            let timers = DueTimers(service: .presence, connection: scene.connection)
            let other = DueTimers(service: .presence, connection: scene.connection)
            let fired = Recording<String>()
            let runner = Task { await timers.run(every: .milliseconds(20)) { fired.add($0.member) } }
            try await other.schedule("theirs", at: Self.past(1))
            try await waitUntil("the other's timer") { fired.all.contains("theirs") ? nil : "not fired" }
            let start = ContinuousClock.now
            for number in 1...10 {
                try await timers.schedule("t-\(number)", at: try await Self.now(scene) + .milliseconds(30))
                try await waitUntil("a timer of this process") {
                    fired.all.contains("t-\(number)") ? nil : "\(number) not fired"
                }
            }
            // With only the check once a second, it would take ten seconds.
            #expect(start.duration(to: .now) < .seconds(5))
            runner.cancel()
            await runner.value
        }
    }
}
