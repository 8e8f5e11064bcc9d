import MediaLogic
import Testing

@Suite struct MediaPlacementTests {
    private func node(_ id: String, _ load: Int, isDraining: Bool = false, until: Int64 = 5000) -> MediaPlacement.Node {
        MediaPlacement.Node(id: id, load: load, isDraining: isDraining, until: until)
    }

    @Test func theHolderIsTheAnswerWhileItHolds() {
        let holding = MediaPlacement.Holding(node: "a", epoch: 7, until: 2001)
        #expect(MediaPlacement.place(holding: holding, nodes: [node("b", 0)], avoid: ["a"], now: 2000) == holding)
        #expect(
            MediaPlacement.place(holding: holding, nodes: [node("b", 0)], now: 2001)
                == MediaPlacement.Holding(node: "b", epoch: 8, until: 5001))
        #expect(MediaPlacement.place(holding: holding, nodes: [], now: 2001) == nil)
    }

    @Test func aFirstEpochIsTheClock() {
        #expect(MediaPlacement.place(holding: nil, nodes: [node("b", 0)], now: 2000)?.epoch == 2000)
    }

    @Test func theBetterOfTwoIsChosen() {
        let nodes = [node("a", 500), node("b", 100), node("c", 900)]
        for first in 0..<3 {
            for second in 0..<2 {
                var picks = [first, second]
                let placed = MediaPlacement.place(holding: nil, nodes: nodes, now: 1) { bound in
                    #expect(picks[0] < bound)
                    return picks.removeFirst()
                }
                let pair = [nodes[first], nodes[(first + 1 + second) % 3]]
                #expect(pair[0] != pair[1])
                #expect(placed?.node == pair.min { $0.load < $1.load }?.id)
            }
        }
    }

    @Test func someNodesTakeNothing() {
        let closed = [node("a", 1000), node("b", 0, isDraining: true), node("c", 0, until: 1)]
        #expect(MediaPlacement.place(holding: nil, nodes: closed, now: 1) == nil)
        #expect(MediaPlacement.place(holding: nil, nodes: closed + [node("d", 999)], now: 1)?.node == "d")
        // A node that the client could not reach is better than none.
        for _ in 0..<20 {
            let two = [node("d", 0), node("e", 900)]
            #expect(MediaPlacement.place(holding: nil, nodes: two, avoid: ["d"], now: 1)?.node == "e")
            #expect(MediaPlacement.place(holding: nil, nodes: two, avoid: ["d", "e"], now: 1) != nil)
        }
    }

    @Test func aNodeTakesJoinsOnlyWhileItHolds() {
        var hold = ChannelHold(epoch: 7, now: 0)
        #expect(!hold.takesJoins)
        #expect(hold.answered(.held, asked: 100) == false)
        #expect(hold.takesJoins)
        #expect(hold.tick(isEmpty: false, now: 3099) == false)
        #expect(hold.takesJoins)
        // Redis does not answer: calls go on.
        #expect(hold.tick(isEmpty: false, now: 3100) == false)
        #expect(hold.state == .unsure && !hold.takesJoins)
        #expect(hold.answered(.restored, asked: 9000) == false)
        #expect(hold.state == .held(until: 12_000))
        #expect(hold.answered(.taken(epoch: 7), asked: 9000) == false, "our own")
        #expect(hold.answered(.taken(epoch: 8), asked: 9100) == true)
        #expect(hold.state == .lost && !hold.takesJoins)
        // Nothing brings it back.
        #expect(hold.answered(.held, asked: 9200) == false)
        #expect(hold.answered(.taken(epoch: 9), asked: 9200) == false)
        #expect(hold.tick(isEmpty: true, now: 99_000) == false)
        #expect(hold.state == .lost)
    }

    @Test func anEmptyChannelIsGivenUp() {
        var hold = ChannelHold(epoch: 7, now: 0)
        #expect(hold.tick(isEmpty: true, now: 9999) == false)
        #expect(hold.tick(isEmpty: false, now: 10_000) == false)
        #expect(hold.tick(isEmpty: true, now: 11_000) == false)
        #expect(hold.tick(isEmpty: true, now: 20_999) == false)
        #expect(hold.tick(isEmpty: true, now: 21_000) == true)
        #expect(hold.state == .lost)
    }
}
