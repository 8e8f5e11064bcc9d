import Testing

@testable import RedisClient

@Suite struct ShardTopicsTests {
    private static let first = NodeAddress(host: "a", port: 1)
    private static let second = NodeAddress(host: "b", port: 1)
    private var topics = ShardTopics<Int>()

    /// Confirms a topic.
    /// - Returns: the waiters, and the slot that is renewed, or `-`.
    private mutating func confirm(_ topic: String, _ master: NodeAddress) -> String {
        let (waiters, slot) = topics.confirmed(topic, by: master)
        return "\(waiters) \(slot.map { "\($0)" } ?? "-")"
    }

    @Test mutating func topicsWaitForTheirSlot() {
        #expect(topics.want("x", slot: 5, 1) == .wait)
        #expect(topics.want("y", slot: 5, 2) == .wait)
        #expect(topics.detached == [5])
        #expect(topics.unsettled == [5])
        #expect(topics.attach(5, to: Self.first).sorted() == ["x", "y"])
        #expect(topics.detached == [])
        #expect(confirm("x", Self.first) == "[1] -")
        #expect(topics.unsettled == [5])
        #expect(topics.want("x", slot: 5, 3) == .confirmed)
        #expect(topics.want("y", slot: 5, 4) == .wait)
        #expect(confirm("y", Self.first) == "[2, 4] -")
        #expect(topics.unsettled == [])
        #expect(topics.want("z", slot: 5, 5) == .subscribe(Self.first))
        #expect(topics.unsettled == [5])
        #expect(confirm("z", Self.first) == "[5] -")
        #expect(topics.count == 3)
    }

    /// Whoever gave up may have sent something whose answer was published before.
    @Test mutating func aSlotIsRenewedAfterItsWaitersGaveUp() {
        _ = topics.want("x", slot: 5, 1)
        _ = topics.want("y", slot: 5, 2)
        _ = topics.want("z", slot: 6, 3)
        #expect(topics.removeWaiters { $0 == 1 } == [1])
        #expect(topics.detached == [5, 6], "all topics stay wanted")
        #expect(topics.attach(5, to: Self.first).sorted() == ["x", "y"])
        _ = topics.attach(6, to: Self.first)
        #expect(confirm("x", Self.first) == "[] -")
        #expect(confirm("y", Self.first) == "[2] 5")
        #expect(confirm("z", Self.first) == "[3] -", "nobody gave up here")
    }

    @Test mutating func aSlotGoesToAnotherMaster() {
        _ = topics.want("x", slot: 5, 1)
        _ = topics.attach(5, to: Self.first)
        _ = topics.confirmed("x", by: Self.first)
        #expect(topics.ended("x", by: Self.second) == nil, "not subscribed there")
        #expect(topics.ended("x", by: Self.first) == 5)
        #expect(topics.master(ofSlot: 5) == nil)
        #expect(topics.ended("x", by: Self.first) == nil, "known")
        #expect(topics.want("y", slot: 5, 2) == .wait)
        #expect(topics.attach(5, to: Self.second).sorted() == ["x", "y"])
        #expect(confirm("x", Self.first) == "[] -", "an answer that was on its way")
        #expect(confirm("x", Self.second) == "[] -")
        #expect(confirm("y", Self.second) == "[2] 5", "the whole slot is renewed")
        #expect(confirm("y", Self.second) == "[] -")
    }

    @Test mutating func aLostMasterConcernsItsSlotsOnly() {
        for (topic, slot, master) in [("x", 5, Self.first), ("y", 6, Self.second)] {
            _ = topics.want(topic, slot: UInt16(slot), 1)
            _ = topics.attach(UInt16(slot), to: master)
            _ = topics.confirmed(topic, by: master)
        }
        topics.detachAll(of: Self.first)
        #expect(topics.detached == [5])
        #expect(topics.master(ofSlot: 6) == Self.second)
        #expect(topics.want("y", slot: 6, 2) == .confirmed)
    }

    @Test mutating func droppedTopics() {
        _ = topics.want("x", slot: 5, 1)
        #expect(topics.drop("x")?.waiters == [1])
        #expect(topics.drop("x")?.waiters == nil)
        #expect(topics.unsettled == [])
        _ = topics.want("x", slot: 5, 2)
        _ = topics.attach(5, to: Self.first)
        let dropped = topics.drop("x")
        #expect(dropped?.master == Self.first)
        #expect(!topics.isWanted("x"))
        #expect(confirm("x", Self.first) == "[] -")
        #expect(topics.ended("x", by: Self.first) == nil)
        #expect(topics.count == 0)
    }

    /// A topic that is given up before it is confirmed must not keep the others' gap from being told.
    @Test mutating func theLastTopicToBeRenewedIsGivenUp() {
        for topic in ["x", "y"] { _ = topics.want(topic, slot: 5, 1) }
        _ = topics.attach(5, to: Self.first)
        for topic in ["x", "y"] { _ = topics.confirmed(topic, by: Self.first) }
        topics.detachAll(of: Self.first)
        _ = topics.attach(5, to: Self.second)
        #expect(confirm("x", Self.second) == "[] -")
        #expect(topics.drop("y")?.renewed == 5)
        #expect(topics.unsettled == [])
        #expect(topics.want("z", slot: 5, 2) == .subscribe(Self.second))
        #expect(confirm("z", Self.second) == "[2] -", "told once")
        #expect(topics.drop("z")?.renewed == nil)
    }

    @Test mutating func waitersWhoseTimeIsOver() {
        _ = topics.want("x", slot: 5, 1)
        _ = topics.want("x", slot: 5, 2)
        #expect(topics.removeWaiters(where: { $0 == 1 }) == [1])
        #expect(topics.isWanted("x"))
        _ = topics.attach(5, to: Self.first)
        #expect(confirm("x", Self.first) == "[2] 5", "whoever gave up is told")
    }

    /// Redis compares names by bytes; Swift's strings would be equal.
    @Test mutating func namesAreBytes() {
        _ = topics.want("\u{E9}", slot: 5, 1)
        #expect(!topics.isWanted("e\u{301}"))
    }
}
