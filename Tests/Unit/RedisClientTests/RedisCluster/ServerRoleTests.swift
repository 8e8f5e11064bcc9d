import NIOCore
import Testing

@testable import RedisClient

@Suite struct ServerRoleTests {
    private static func texts(_ texts: String...) -> RedisValue { .array(texts.map { .bulk(ByteBuffer(string: $0)) }) }

    @Test func roles() throws {
        let offset = RedisValue.integer(3_129_659)
        let master = RedisValue.array([.bulk(ByteBuffer(string: "master")), offset, .array([])])
        #expect(try ServerRole(master) == .master)
        let replica = RedisValue.array([
            .bulk(ByteBuffer(string: "slave")), .bulk(ByteBuffer(string: "a")), .integer(7000),
            .bulk(ByteBuffer(string: "connected")), offset,
        ])
        #expect(try ServerRole(replica) == .replica(of: NodeAddress(host: "a", port: 7000)))
        #expect(try ServerRole(Self.texts("sentinel", "main")) == .sentinel)
        for wrong in [RedisValue.null, .array([]), Self.texts("slave"), Self.texts("king"), .array([.integer(1)])] {
            #expect(throws: RedisError.self) { try ServerRole(wrong) }
        }
    }
}
