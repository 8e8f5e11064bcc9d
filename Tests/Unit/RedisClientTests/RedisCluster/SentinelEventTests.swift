import Testing

@testable import RedisClient

@Suite struct SentinelEventTests {
    @Test func topics() {
        #expect(SentinelEvent.topics.count == 6)
        #expect(SentinelEvent.topics.contains("+switch-master"))
    }

    /// Messages of Redis 7.0.
    @Test(arguments: [
        ("+failover-state-select-slave", "master main 127.0.0.1 7000", SentinelEvent.began),
        ("+failover-state-reconf-slaves", "master main 127.0.0.1 7000", .promoted),
        ("+switch-master", "main 127.0.0.1 7000 ::1 7001", .switched),
        ("-failover-abort-no-good-slave", "master main 127.0.0.1 7000", .aborted),
        ("-failover-abort-not-elected", "master main 127.0.0.1 7000", .aborted),
        ("-failover-abort-slave-timeout", "master main 127.0.0.1 7000", .aborted),
    ])
    func messages(_ topic: String, _ message: String, _ event: SentinelEvent) {
        #expect(SentinelEvent(topic: topic, message: message, name: "main") == event)
        #expect(SentinelEvent(topic: topic, message: message, name: "other") == nil)
    }

    @Test(arguments: [
        ("+switch-master", ""), ("+switch-master", "main"), ("+switch-master", "master main 127.0.0.1 7000"),
        ("+failover-state-select-slave", "main 127.0.0.1 7000 ::1 7001"), ("+failover-state-select-slave", "master"),
        ("+sdown", "master main 127.0.0.1 7000"),
    ])
    func noMessages(_ topic: String, _ message: String) {
        #expect(SentinelEvent(topic: topic, message: message, name: "main") == nil)
    }
}
