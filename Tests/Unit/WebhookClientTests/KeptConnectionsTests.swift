import Testing

@testable import WebhookClient

@Suite struct KeptConnectionsTests {
    private struct Connection: Identifiable, Equatable { let id: Int }

    private var kept = KeptConnections<String, Connection>(placeBound: 2, bound: 3)

    private mutating func keep(_ id: Int, to place: String) -> Bool { kept.keep(Connection(id: id), to: place) }

    @Test mutating func theOneThatHasWaitedLeastIsTaken() {
        var isKept = keep(1, to: "a")
        isKept = keep(2, to: "a") && isKept
        #expect(isKept)
        let taken = [kept.take(to: "b"), kept.take(to: "a"), kept.take(to: "a"), kept.take(to: "a")]
        #expect(taken == [nil, Connection(id: 2), Connection(id: 1), nil])
        #expect(kept.count == 0)
    }

    @Test mutating func boundsHold() {
        let ofOnePlace = [keep(1, to: "a"), keep(2, to: "a"), keep(3, to: "a")]
        #expect(ofOnePlace == [true, true, false])
        let inAll = [keep(4, to: "b"), keep(5, to: "c")]
        #expect(inAll == [true, false])
        #expect(kept.count == 3)
    }

    @Test mutating func whatHasEndedIsNotTaken() {
        var isKept = keep(1, to: "a")
        isKept = keep(2, to: "a") && isKept
        #expect(isKept)
        kept.remove(Connection(id: 2), to: "a")
        // One that is not here any more, or was never here.
        kept.remove(Connection(id: 2), to: "a")
        kept.remove(Connection(id: 3), to: "b")
        #expect(kept.count == 1)
        let all = kept.removeAll()
        #expect(all == [Connection(id: 1)])
        #expect(kept.count == 0)
    }
}
