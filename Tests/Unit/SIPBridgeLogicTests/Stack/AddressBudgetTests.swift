import Pacing
import TestKit
import Testing

@testable import SIPBridgeLogic

@Suite("Budget of addresses")
struct AddressBudgetTests {
    @Test("Each address has a burst and then a rate of its own")
    func bucket() {
        var budget = AddressBudget(perSecond: 2, burst: 3, maxAddresses: 10)
        func taken(_ address: String, _ times: [LocalTime]) -> [Bool] { times.map { budget.take(address, now: $0) } }
        #expect(taken("a", [1_000, 1_000, 1_000, 1_000]) == [true, true, true, false])
        #expect(taken("b", [1_000]) == [true])
        #expect(taken("a", [1_400, 1_500, 1_600]) == [false, true, false])
        #expect(taken("a", [9_000, 9_000, 9_000, 9_000]) == [true, true, true, false])
    }

    @Test("A full table refuses new addresses until an idle one can be removed")
    func bound() {
        var budget = AddressBudget(perSecond: 1, burst: 1, maxAddresses: 2)
        let asked: [(String, LocalTime)] = [("a", 0), ("b", 500), ("c", 600), ("c", 1_000), ("d", 1_000)]
        let taken = asked.map { budget.take($0.0, now: $0.1) }
        #expect(taken == [true, true, false, true, false])
    }
}
