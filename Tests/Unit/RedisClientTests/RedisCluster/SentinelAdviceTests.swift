import Testing

@testable import RedisClient

@Suite struct SentinelAdviceTests {
    private static func lines(_ offsets: [Int], needsReplicas: Bool, unnamed: Int = 0) throws -> [String] {
        let master = ServerIdentity(role: .master, runID: "a", needsReplicas: needsReplicas)
        let replicas = offsets.enumerated().map { index, offset in
            SentinelRepliesTests.fields([
                "name": "r\(index):1", "master-link-status": offset > 1 ? "ok" : "err",
                "slave-repl-offset": "\(offset)",
            ])
        }
        return try SentinelAdvice.lines(master, replicas: .array(replicas), unnamed: unnamed)
    }

    @Test func nothingToSay() throws {
        #expect(try Self.lines([50], needsReplicas: false).isEmpty)
        #expect(try Self.lines([50, 60], needsReplicas: true).isEmpty)
    }

    @Test func advice() throws {
        #expect(try Self.lines([], needsReplicas: false).count == 1)
        #expect(try Self.lines([50], needsReplicas: true).first?.contains("one replica") == true)
        #expect(try Self.lines([50, 60], needsReplicas: false).first?.contains("min-replicas-to-write 1") == true)
        #expect(
            try Self.lines([50], needsReplicas: false, unnamed: 2).first?.contains("name 2 of the Sentinels") == true)
        let lines = try Self.lines([50, 1], needsReplicas: true)
        #expect(
            lines == ["the replica r1:1 has never had the master's data: if Sentinel promotes it, all data are lost"])
    }
}
