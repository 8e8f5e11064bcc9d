import Testing

@testable import GatewayServer

@Suite struct EachShardTests {
    @Test(.timeLimit(.minutes(1)), arguments: [["hangs", "works"], ["works", "hangs"]])
    func aShardThatHangsDelaysNoOther(shards: [String]) async {
        let (worked, work) = AsyncStream.makeStream(of: Void.self)
        await eachShard(of: shards) { shard in
            // Hangs until the other shard has done its work, which it never could if the
            // shards ran one after the other.
            if shard == "hangs" { for await _ in worked { break } } else { work.yield() }
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: [["waits", "works"], ["works", "waits"]])
    func allAreAskedAtOnce(shards: [String]) async {
        let (worked, work) = AsyncStream.makeStream(of: Void.self)
        let given = await answers(of: shards, within: .seconds(50)) { shard in
            if shard == "waits" { for await _ in worked { break } } else { work.yield() }
            return "it \(shard)"
        }
        #expect(given == shards.map { "it \($0)" })
    }

    @Test(.timeLimit(.minutes(1))) func whoHangsHasNoAnswer() async {
        let (silence, end) = AsyncStream.makeStream(of: Never.self)
        defer { end.finish() }
        let given = await answers(of: ["works", "hangs", "works too"], within: .seconds(1)) { shard in
            if shard == "hangs" { for await _ in silence {} }
            return shard
        }
        #expect(given == ["works", nil, "works too"])
    }
}
