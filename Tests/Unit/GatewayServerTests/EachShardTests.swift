import Testing

@testable import GatewayServer

@Suite struct EachShardTests {
    @Test(.timeLimit(.minutes(1)), arguments: [["hangs", "works"], ["works", "hangs"]])
    func aShardThatHangsDelaysNoOther(shards: [String]) async {
        let (worked, work) = AsyncStream.makeStream(of: Void.self)
        await eachShard(of: shards) { shard in
            // Hangs until the other shard has done its work, which it never could if the shards ran one after the other.
            if shard == "hangs" { for await _ in worked { break } } else { work.yield() }
        }
    }
}
