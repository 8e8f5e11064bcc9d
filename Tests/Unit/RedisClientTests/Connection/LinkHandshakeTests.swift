import ClusterState
import NIOCore
import Testing

@testable import RedisClient

@Suite struct LinkHandshakeTests {
    private static let libraries = ["one", "two"].map { name in
        RedisFunctionLibrary(name: name, parts: [Array("redis.register_function('\(name)_call', nothing)".utf8)])
    }
    private static let master = RedisValue.array([.bulk(ByteBuffer(string: "master")), .integer(0), .array([])])
    private static let replica = RedisValue.array([.bulk(ByteBuffer(string: "slave")), .bulk(ByteBuffer(string: "h"))])
    private static let listed = RedisValue.array([.array([])])
    private static let unlisted = RedisValue.array([])
    private static let time = RedisValue.array([.bulk(ByteBuffer(string: "1")), .bulk(ByteBuffer(string: "2"))])

    private static func handshake(
        _ libraries: [RedisFunctionLibrary], isChecked: Bool = false
    ) throws -> LinkHandshake {
        LinkHandshake(
            try RedisConfiguration(url: "redis://h:1"), libraries: libraries, asksTime: true, isChecked: isChecked)
    }

    /// The names of the commands to be written; nil when there are none.
    private static func sent(_ handshake: inout LinkHandshake) -> [String]? {
        guard case .send(let commands) = handshake.next() else { return nil }
        return commands.map(\.name)
    }

    private static func isDone(_ handshake: inout LinkHandshake) -> Bool {
        if case .done = handshake.next() { true } else { false }
    }

    /// Passes replies of which nothing else is to be said.
    private static func pass(_ replies: [RedisValue], to handshake: inout LinkHandshake) {
        for (index, reply) in replies.enumerated() {
            if index > 0, case .wait = handshake.next() {} else if index > 0 { Issue.record("not all replies awaited") }
            #expect(handshake.received(reply) == .nothing)
        }
    }

    @Test func librariesThatTheServerHasAreNotSent() throws {
        var handshake = try Self.handshake(Self.libraries)
        #expect(Self.sent(&handshake) == ["PING", "ROLE", "FUNCTION", "FUNCTION", "TIME"])
        Self.pass([.simple("PONG"), Self.master, Self.listed, Self.listed], to: &handshake)
        #expect(handshake.received(Self.time) == .time(Self.time))
        #expect(Self.isDone(&handshake))
    }

    @Test func onlyTheMissingLibraryIsSent() throws {
        var handshake = try Self.handshake(Self.libraries)
        _ = Self.sent(&handshake)
        Self.pass([.simple("PONG"), Self.master, Self.listed, Self.unlisted], to: &handshake)
        #expect(handshake.received(Self.time) == .time(Self.time))
        guard case .send(let loads) = handshake.next() else { Issue.record("nothing is loaded"); return }
        #expect(loads == [Self.libraries[1].load])
        // Another connection was faster.
        let isThere = RedisError(reply: "ERR Library '\(Self.libraries[1].name)' already exists")
        #expect(handshake.received(.error(isThere)) == .nothing)
        #expect(Self.isDone(&handshake))
    }

    @Test func aRefusedLoadEndsTheAttempt() throws {
        var handshake = try Self.handshake(Self.libraries)
        _ = Self.sent(&handshake)
        Self.pass([.simple("PONG"), Self.master, Self.unlisted, Self.unlisted], to: &handshake)
        _ = handshake.received(Self.time)
        #expect(Self.sent(&handshake) == ["FUNCTION", "FUNCTION"])
        let full = RedisError(reply: "OOM command not allowed when used memory > 'maxmemory'.")
        #expect(handshake.received(.error(full)) == .refused(full))
    }

    @Test func nothingIsAskedOfAServerBeforeItHasBeenJudged() throws {
        var handshake = try Self.handshake(Self.libraries, isChecked: true)
        #expect(Self.sent(&handshake) == ["PING", "INFO"])
        Self.pass([.simple("PONG")], to: &handshake)
        let info = RedisValue.bulk(ByteBuffer(string: "role:master"))
        #expect(handshake.received(info) == .identity(info))
        #expect(Self.sent(&handshake) == ["ROLE", "FUNCTION", "FUNCTION", "TIME"])
    }

    @Test func aReplicaIsRefusedByAConnectionThatCallsFunctions() throws {
        var handshake = try Self.handshake(Self.libraries)
        _ = Self.sent(&handshake)
        Self.pass([.simple("PONG")], to: &handshake)
        guard case .refused(let error) = handshake.received(Self.replica) else { Issue.record("accepted"); return }
        #expect(error.code.rawValue == "READONLY")
        var plain = try Self.handshake([])
        #expect(Self.sent(&plain) == ["PING", "TIME"])
    }
}
