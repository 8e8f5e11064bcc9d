import Testing

@testable import GatewayServer

@Suite struct HeartbeatsTests {
    @Test(.timeLimit(.minutes(1))) func noHeartbeatWaitsForAnother() async {
        let (beats, beat) = AsyncStream.makeStream(of: String.self)
        let (silence, answer) = AsyncStream.makeStream(of: Never.self)
        defer { answer.finish() }
        let keeping = Task {
            await Heartbeats.run(of: ["slow", "well"], every: .milliseconds(1)) { member in
                beat.yield(member)
                // Waits until the task is cancelled, like a heartbeat without an answer.
                if member == "slow" { for await _ in silence {} }
            }
        }
        var counts = ["slow": 0, "well": 0]
        for await member in beats {
            counts[member, default: 0] += 1
            if counts.values.allSatisfy({ $0 >= 3 }) { break }
        }
        keeping.cancel()
        await keeping.value
        #expect(counts.values.allSatisfy { $0 >= 3 })
    }
}
