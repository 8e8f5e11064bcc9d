import ClusterState
import RedisClient
import SignalingProtocol
import Testing

@testable import GatewayServer

@Suite struct SlotIndexTests {
    @Test func elementsMoveAndGo() {
        var index = SlotIndex<String>()
        index.insert("a", slot: 1)
        index.insert("b", slot: 1)
        index.insert("c", slot: 2)
        #expect(Set(index.elements(in: .slots([1, 3]))) == ["a", "b"])
        index.insert("a", slot: 3)
        index.insert("b", slot: 1)
        #expect(Set(index.elements(in: .slots([1, 3]))) == ["a", "b"])
        #expect(index.elements(in: .slots([1])) == ["b"])
        index.remove("b")
        index.remove("nobody")
        #expect(index.elements(in: .slots([1])).isEmpty && index.count == 2)
        #expect(Set(index.elements(in: .all)) == ["a", "c"])
        #expect(index.elements(in: .none).isEmpty)
    }

    /// 20,000 sessions while 4,000 slots move one by one, and then a third of all slots at once.
    @Test func aMoveLooksOnlyAtWhatIsInItsSlots() throws {
        var index = SlotIndex<SessionID>()
        let app = try AppID("app")
        for number in 0..<20_000 {
            let user = UserKey(app: app, account: try Account("user-\(number)"))
            index.insert(SessionID("s-\(number)"), slot: KeySpace.slot(of: .user(user)))
        }
        var found = 0
        for slot in UInt16(0)..<4000 { found += index.elements(in: .slots([slot])).count }
        #expect(found > 4000 && found < 6000, "a quarter of them, by users' names")
        #expect(index.visits == 4000 + found)
        let before = index.visits
        let third = index.elements(in: .slots(Set(0..<5461))).count
        // Users are in one of four slots.
        #expect(index.visits - before == Buckets.count + third)
    }
}
