import NIOCore
import Testing

@testable import RedisClient

@Suite struct ServerIdentityTests {
    private static func info(_ lines: String...) -> RedisValue {
        .bulk(ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n"))
    }

    @Test func master() throws {
        let identity = try ServerIdentity(
            info: Self.info(
                "# Server", "redis_version:7.0.15", "redis_mode:standalone", "run_id:0a1b", "", "# Replication",
                "role:master", "connected_slaves:1", "min_slaves_good_slaves:1",
                "slave0:ip=127.0.0.1,port=7001,state=online,offset=14,lag=0", "master_replid:aa", "master_replid2:bb"))
        #expect(
            identity
                == ServerIdentity(
                    role: .master, runID: "0a1b", history: "aa", formerHistory: "bb", needsReplicas: true))
        #expect(identity.refusal == nil)
        #expect(try !ServerIdentity(info: Self.info("run_id:a", "role:master")).needsReplicas)
    }

    @Test func replica() throws {
        let identity = try ServerIdentity(
            info: Self.info("run_id:a", "role:slave", "master_host:::1", "master_port:7000"))
        #expect(identity.role == .replica(of: NodeAddress(host: "::1", port: 7000)))
        #expect(identity.refusal?.code == .readOnly)
    }

    @Test func sentinel() throws {
        let identity = try ServerIdentity(info: Self.info("redis_mode:sentinel", "run_id:a"))
        #expect(identity.role == .sentinel)
        #expect(identity.refusal?.code == .flavour)
    }

    @Test(arguments: [
        RedisValue.null, .integer(1), info("role:master"), info("run_id:", "role:master"), info("run_id:a"),
        info("run_id:a", "role:slave"), info("run_id:a", "role:slave", "master_host:h", "master_port:x"),
        info("run_id:a", "role:king"),
    ])
    func noIdentity(_ reply: RedisValue) {
        let error = #expect(throws: RedisError.self) { try ServerIdentity(info: reply) }
        #expect(error?.code == .shape)
    }

    /// A replica takes over its master's history, and when it is promoted begins one of its own that names that one.
    @Test func whoHasTheDataOfWhom() {
        let former = ServerIdentity(role: .master, runID: "1", history: "aa")
        #expect(ServerIdentity(role: .master, runID: "2", history: "bb", formerHistory: "aa").continues(former))
        #expect(ServerIdentity(role: .master, runID: "2", history: "aa", formerHistory: "00").continues(former))
        #expect(ServerIdentity(role: .master, runID: "1", history: "cc", formerHistory: "00").continues(former))
        // A replica that had never synchronised had a history of its own.
        #expect(!ServerIdentity(role: .master, runID: "2", history: "bb", formerHistory: "cc").continues(former))
    }
}
