import Testing

@testable import GatewayServer

@Suite struct EachShardTests {
    @Test(.timeLimit(.minutes(1)), arguments: [["hangs", "works"], ["works", "hangs"]])
    func aShardThatHangsDelaysNoOther(shards: [String]) async {
        let (worked, work) = AsyncStream.makeStream(of: Void.self)
        await eachShard(of: shards) { shard in
            // Hangs until the other has done its work, which in a loop over the shards it never would.
            if shard == "hangs" { for await _ in worked { break } } else { work.yield() }
        }
    }
}
