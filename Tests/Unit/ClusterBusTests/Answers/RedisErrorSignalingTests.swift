import SignalingProtocol
import Testing

@testable import ClusterBus
@testable import RedisClient

/// What clients are told of an error of Redis.
@Suite struct RedisErrorSignalingTests {
    @Test func errorsOfFunctions() {
        let error = RedisError(reply: "SIG 400 not_member the sender is not a member")
        #expect(error.code == .signaling)
        #expect(error.signaling == SignalingError(.messageOther, .notMember, "the sender is not a member"))
        #expect(RedisError(reply: "SIG 1001 timeout").signaling == SignalingError(.failed, .timeout, ""))
    }

    @Test func aFullServer() {
        let text = "OOM command not allowed when used memory > 'maxmemory'."
        #expect(RedisError(reply: text).signaling == .memoryFull)
    }

    @Test(arguments: ["ERR x", "SIG", "SIG x y z", "SIG 999999 unknown x", "", "WRONGTYPE"])
    func everythingElse(_ text: String) {
        #expect(RedisError(reply: text).signaling == .unavailable("redis"))
    }

    /// Unlike an error of Redis itself, it does not count against a post, which would be set aside after five of them.
    @Test func tooFewReplicas() {
        let error = RedisError.unreplicated(2).signaling
        #expect(error.reason == .unavailable && error != .unavailable("redis"))
    }
}
