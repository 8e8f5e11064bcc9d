import Testing

@testable import RedisClient

@Suite struct SubscriptionTableTests {
    private func ask(_ table: inout SubscriptionTable<Int>, _ topic: String, _ waiter: Int) {
        if table.want(topic, isUp: true, waiter: waiter) == .subscribe { table.sent(topic) }
    }

    @Test func oneRequestServesAll() {
        var table = SubscriptionTable<Int>()
        #expect(table.want("a", isUp: true, waiter: 1) == .subscribe)
        table.sent("a")
        #expect(table.want("a", isUp: true, waiter: 2) == .wait)
        #expect(table.confirmed("a") == [1, 2])
        #expect(table.want("a", isUp: true, waiter: 3) == .confirmed)
        #expect(table.wantedCount == 1)
    }

    @Test func confirmationOfAnEarlierRequestIsNotTaken() {
        var table = SubscriptionTable<Int>()
        ask(&table, "a", 1)
        #expect(table.drop("a") == [1])
        #expect(!table.isWanted("a"))
        ask(&table, "a", 2)
        #expect(table.outstanding == 2)
        #expect(table.confirmed("a") == [])
        #expect(table.confirmed("a") == [2])
        #expect(table.outstanding == 0)
    }

    @Test func dropping() {
        var table = SubscriptionTable<Int>()
        #expect(table.drop("a") == nil)
        ask(&table, "a", 1)
        #expect(table.confirmed("a") == [1])
        #expect(table.drop("a") == [])
        #expect(table.drop("a") == nil)
        #expect(table.wantedCount == 0)
        ask(&table, "b", 2)
        _ = table.drop("b")
        #expect(table.confirmed("b") == [])
        #expect(table.wanted.isEmpty)
    }

    @Test func outage() {
        var table = SubscriptionTable<Int>()
        ask(&table, "a", 1)
        ask(&table, "b", 2)
        _ = table.drop("b")
        table.disconnected()
        #expect(table.outstanding == 0)
        #expect(table.wanted == ["a"])
        #expect(table.want("c", isUp: false, waiter: 3) == .wait)
        for topic in table.wanted { table.sent(topic) }
        #expect(table.confirmed("a") == [1])
        #expect(table.confirmed("c") == [3])
    }

    @Test func timeOut() {
        var table = SubscriptionTable<Int>()
        ask(&table, "a", 1)
        ask(&table, "a", 2)
        #expect(table.removeWaiters { $0 == 1 } == [1])
        #expect(table.confirmed("a") == [2])
        #expect(table.removeWaiters { _ in true } == [])
    }

    @Test func topicsAreToldApartByTheirBytes() {
        var table = SubscriptionTable<Int>()
        #expect(table.want("caf\u{E9}", isUp: true, waiter: 1) == .subscribe)
        #expect(table.want("cafe\u{301}", isUp: true, waiter: 2) == .subscribe)
        #expect(table.wantedCount == 2)
    }
}
