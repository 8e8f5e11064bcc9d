import NIOCore
import Testing

@testable import RedisClient

@Suite struct SentinelRepliesTests {
    private static func texts(_ texts: String...) -> RedisValue { .array(texts.map { .bulk(ByteBuffer(string: $0)) }) }

    @Test func master() throws {
        let address = try SentinelReplies.master(Self.texts("10.0.0.1", "6379"), name: "main")
        #expect(address == NodeAddress(host: "10.0.0.1", port: 6379))
        let error = #expect(throws: RedisError.self) { try SentinelReplies.master(.null, name: "main") }
        #expect(error?.message.contains("main") == true)
    }

    @Test(arguments: [
        RedisValue.integer(1), texts("10.0.0.1"), texts("", "6379"), texts("a", "0"), texts("a", "65536"),
        texts("a", "b"), texts("a", "1", "2"),
    ])
    func noMaster(_ reply: RedisValue) {
        let error = #expect(throws: RedisError.self) { try SentinelReplies.master(reply, name: "main") }
        #expect(error?.code == .shape)
    }

    /// A reply to SENTINEL MASTER.
    static func fields(_ fields: KeyValuePairs<String, String>) -> RedisValue {
        .array(fields.flatMap { [$0.key, $0.value] }.map { .bulk(ByteBuffer(string: $0)) })
    }

    @Test func naming() throws {
        let fields = Self.fields(["name": "main", "ip": "10.0.0.1", "config-epoch": "7", "num-other-sentinels": "2"])
        // Between the promotion and the end of the failover the two replies differ.
        let naming = try SentinelReplies.naming([fields, Self.texts("10.0.0.2", "6380")], name: "main")
        #expect(naming == .init(master: NodeAddress(host: "10.0.0.2", port: 6380), epoch: 7, sentinels: 3))
        let wrong: [[RedisValue]] = [
            [fields], [.integer(1), Self.texts("a", "1")], [Self.texts("config-epoch"), Self.texts("a", "1")],
            [Self.fields(["config-epoch": "x"]), Self.texts("a", "1")], [Self.fields([:]), Self.texts("a", "1")],
        ]
        for replies in wrong {
            #expect(throws: RedisError.self) { try SentinelReplies.naming(replies, name: "main") }
        }
    }

    @Test func replicasWithoutData() throws {
        let replicas = RedisValue.array([
            Self.fields(["name": "a:1", "master-link-status": "ok", "slave-repl-offset": "1"]),
            Self.fields(["name": "b:1", "master-link-status": "err", "slave-repl-offset": "1"]),
            Self.fields(["name": "c:1", "master-link-status": "err", "slave-repl-offset": "900"]),
            Self.fields(["name": "d:1"]),
        ])
        #expect(try SentinelReplies.neverSynced(replicas) == ["b:1"])
        #expect(throws: RedisError.self) { try SentinelReplies.neverSynced(.integer(1)) }
        #expect(throws: RedisError.self) { try SentinelReplies.neverSynced(.array([Self.fields([:])])) }
    }

    @Test func refusals() {
        let sentinel = NodeAddress(host: "s", port: 26_379)
        let unknown = SentinelReplies.refusal(
            RedisError(reply: "ERR No such master with that name"), sentinel: sentinel, name: "main")
        #expect(unknown?.description == "FLAVOUR the Sentinel s:26379 knows no master of the name main")
        let server = SentinelReplies.refusal(
            RedisError(reply: "ERR unknown command 'SENTINEL', with args beginning with: 'MASTER' 'main' "),
            sentinel: sentinel, name: "main")
        #expect(server?.description == "FLAVOUR s:26379 is not a Sentinel: name the Sentinels instead")
        #expect(SentinelReplies.refusal(.timeout, sentinel: sentinel, name: "main") == nil)
    }
}
