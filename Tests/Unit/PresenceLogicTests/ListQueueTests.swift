import PresenceLogic
import Testing

@Suite struct ListQueueTests {
    private static let start = ContinuousClock.now
    private static func at(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    private var queue = ListQueue()

    private mutating func arrive(_ id: Int, _ app: String, until deadline: Int = 8, now: Int = 0) -> ListQueue.Arrival {
        queue.arrived(id, of: app, until: Self.at(deadline), now: Self.at(now)).0
    }

    private mutating func finish(_ app: String, now: Int = 0) -> ListQueue.Turn {
        queue.finished(app, now: Self.at(now))
    }

    /// An app with many lists never has both readers.
    @Test mutating func oneListOfAnAppIsReadAtOnce() {
        #expect(arrive(1, "a") == .read)
        #expect(arrive(2, "a") == .wait)
        #expect(arrive(3, "b") == .read)
        #expect(arrive(4, "c") == .wait)
        #expect(finish("a") == .init(next: 2))
        #expect(finish("a") == .init(next: 4))
        #expect(finish("b") == .init() && finish("c") == .init())
        #expect(arrive(5, "a") == .read)
    }

    @Test mutating func appsAreReadInTurn() {
        #expect(arrive(1, "x") == .read && arrive(2, "y") == .read)
        for id in 10..<20 { #expect(arrive(id, "a") == .wait) }
        for (id, app) in [(20, "b"), (30, "c"), (21, "b")] { #expect(arrive(id, app) == .wait) }
        var order = [finish("x").next]
        for app in ["a", "b", "c", "a", "b", "a"] { order.append(finish(app).next) }
        #expect(order == [10, 20, 30, 11, 21, 12, 13])
    }

    @Test mutating func soManyOfAnAppWait() {
        #expect(arrive(0, "a") == .read)
        for id in 1...ListQueue.waitingOfApp { #expect(arrive(id, "a") == .wait) }
        #expect(arrive(100, "a") == .refused(bound: 20, ofApp: true))
        #expect(arrive(101, "b") == .read)
        // Those that nobody waits for any more make room.
        let (arrival, dropped) = queue.arrived(102, of: "a", until: Self.at(20), now: Self.at(8))
        #expect(arrival == .wait && dropped == Array(1...20))
    }

    @Test mutating func whatHasWaitedTooLongIsNotRead() {
        #expect(arrive(1, "x") == .read && arrive(2, "y") == .read)
        _ = (arrive(3, "a", until: 5), arrive(4, "a", until: 6), arrive(5, "b", until: 5), arrive(6, "c", until: 9))
        #expect(finish("x", now: 6) == .init(next: 6, dropped: [3, 4, 5]))
        #expect(finish("y", now: 6) == .init())
    }

    @Test mutating func soManyOfAllAppsWait() {
        #expect(arrive(1, "x") == .read && arrive(2, "y") == .read)
        for id in 0..<ListQueue.waitingBound { #expect(arrive(id + 10, "a\(id % 50)") == .wait) }
        #expect(arrive(3, "z") == .refused(bound: 1000, ofApp: false))
        #expect(queue.arrived(4, of: "z", until: Self.at(20), now: Self.at(8)).dropped.count == 1000)
    }
}
