import Testing

@testable import RedisClient

@Suite struct RefusalTests {
    private static let node = NodeAddress(host: "10.0.0.9", port: 7000)

    private static func read(_ reply: String) -> Refusal? { Refusal(RedisError(reply: reply), by: node) }

    /// Replies of Redis 7.0.15.
    @Test(arguments: [
        ("MOVED 15891 127.0.0.1:39612", Refusal.moved(NodeAddress(host: "127.0.0.1", port: 39_612))),
        ("MOVED 15891 redis-0.test:39610", .moved(NodeAddress(host: "redis-0.test", port: 39_610))),
        ("MOVED 15891 ::1:39610", .moved(NodeAddress(host: "::1", port: 39_610))),
        ("MOVED 15891 :39610", .moved(NodeAddress(host: "10.0.0.9", port: 39_610))),
        ("MOVED 15891 ?:39610", .moved(nil)),
        ("ASK 15891 127.0.0.1:39610", .ask(NodeAddress(host: "127.0.0.1", port: 39_610))),
        ("TRYAGAIN Multiple keys request during rehashing of slot", .tryAgain),
        ("CLUSTERDOWN Hash slot not served", .clusterDown), ("CLUSTERDOWN The cluster is down", .clusterDown),
        ("NOREPLICAS Not enough good replicas to write.", .noReplicas),
        ("READONLY You can't write against a read only replica.", .readOnly),
        ("READONLY Can not run script with write flag on readonly replica.", .readOnly),
        ("LOADING Redis is loading the dataset in memory", .loading),
        ("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", .masterDown),
        // Not usable as an address.
        ("MOVED 15891", .moved(nil)), ("MOVED 15891 a", .moved(nil)), ("MOVED 15891 a:0", .moved(nil)),
        ("ASK 15891 a:70000", .ask(nil)),
    ])
    func refusals(_ reply: String, _ refusal: Refusal) {
        #expect(Self.read(reply) == refusal)
        #expect(refusal.code.rawValue == reply.prefix { $0 != " " })
    }

    /// What a function wrote before the error has taken effect.
    @Test(arguments: [
        "ERR Function not found", "SIG 2010 no_mailbox gone", "WRONGTYPE Operation against a key",
        "CROSSSLOT Keys in request don't hash to the same slot", "OOM command not allowed", "",
        "READONLY You can't write against a read only replica. script: w, on @user_function:3.",
        "NOREPLICAS Not enough good replicas to write. script: w, on @user_function:3.",
    ])
    func others(_ reply: String) { #expect(Self.read(reply) == nil) }
}
