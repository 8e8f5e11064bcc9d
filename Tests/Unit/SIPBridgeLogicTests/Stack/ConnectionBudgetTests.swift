import Pacing
import SIPBridgeLogic
import TestKit
import Testing

@Suite struct ConnectionBudgetTests {
    private final class Sockets {
        var open: [Int32: Int] = [:]
    }

    private let sockets = Sockets()

    private func take(
        _ budget: inout ConnectionBudget<Int>, _ descriptor: Int32, _ address: String, isKnown: Bool = false,
        now: LocalTime = 0
    ) -> Bool {
        let sockets = sockets
        sockets.open[descriptor] = Int(descriptor)
        let connection = ConnectionBudget.Connection(peer: Int(descriptor), address: address, isKnown: isKnown)
        let taken = budget.take(descriptor, connection, now: now) { sockets.open[$0] == $1 }
        if !taken { sockets.open[descriptor] = nil }
        return taken
    }

    @Test func aStrangerHasFewAndATrunkHasMany() {
        var budget = ConnectionBudget<Int>()
        let taken = (0..<2000).map { take(&budget, $0, "192.0.2.1") }
        #expect(taken.count { $0 } == budget.perStranger)
        #expect(take(&budget, 3000, "192.0.2.2"))
        let known = (4000..<6000).map { take(&budget, $0, "198.51.100.1", isKnown: true) }
        #expect(!known.contains(false))
    }

    @Test func strangersTogetherAreBounded() {
        var budget = ConnectionBudget<Int>()
        budget.ofStrangers = 8
        let taken = (0..<20).map { take(&budget, $0, "192.0.2.\($0)") }
        #expect(taken.count { $0 } == 8)
        #expect(take(&budget, 100, "198.51.100.1", isKnown: true))
    }

    @Test func thereIsAnEndForTrunksToo() {
        var budget = ConnectionBudget<Int>()
        budget.total = 4
        #expect(
            (0..<6).map { take(&budget, $0, "198.51.100.1", isKnown: true) } == [true, true, true, true, false, false])
    }

    @Test func closedOnesAreFound() {
        var budget = ConnectionBudget<Int>()
        budget.perStranger = 2
        budget.ofStrangers = 3
        for descriptor: Int32 in 0..<2 { #expect(take(&budget, descriptor, "a")) }
        #expect(!take(&budget, 2, "a"))
        sockets.open[0] = nil
        #expect(take(&budget, 3, "a"))
        // A descriptor that was reused by something else no longer belongs to the connection.
        sockets.open[1] = 99
        #expect(take(&budget, 4, "a"))
        #expect(take(&budget, 5, "b"))
        #expect(!take(&budget, 6, "c", now: 1000))
        sockets.open[5] = nil
        #expect(!take(&budget, 6, "c", now: 1050), "looked just now")
        #expect(take(&budget, 6, "c", now: 1100))
        #expect(budget.count == 3)
    }
}
