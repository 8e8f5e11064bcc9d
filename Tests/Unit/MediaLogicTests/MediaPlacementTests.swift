import MediaLogic
import Testing

@Suite struct MediaPlacementTests {
    private func node(_ id: String, _ load: Int, isDraining: Bool = false, until: Int64 = 5000) -> MediaPlacement.Node {
        MediaPlacement.Node(id: id, load: load, isDraining: isDraining, until: until)
    }

    private func place(
        _ nodes: [MediaPlacement.Node], channel: String = "app/room", holding: MediaPlacement.Holding? = nil,
        avoid: Set<String> = [], now: Int64 = 1
    ) -> MediaPlacement.Holding? {
        MediaPlacement.place(channel: channel, holding: holding, nodes: nodes, avoid: avoid, now: now)
    }

    @Test func theHolderIsTheAnswerWhileItHolds() {
        let holding = MediaPlacement.Holding(node: "a", epoch: 7, until: 2001)
        #expect(place([node("b", 0)], holding: holding, avoid: ["a"], now: 2000) == holding)
        #expect(
            place([node("b", 0)], holding: holding, now: 2001)
                == MediaPlacement.Holding(node: "b", epoch: 8, until: 5001))
        #expect(place([], holding: holding, now: 2001) == nil)
    }

    @Test func aFirstEpochIsTheClock() {
        #expect(place([node("b", 0)], now: 2000)?.epoch == 2000)
    }

    @Test func aChannelIsPlacedWhereItWas() {
        let nodes = (0..<10).map { node("node-\($0)", $0 * 100) }
        var channels: [String: Int] = [:]
        for number in 0..<1000 {
            let channel = "app/\(number)"
            guard let first = place(nodes, channel: channel)?.node else {
                Issue.record("no node")
                continue
            }
            channels[first, default: 0] += 1
            // Redis has come back empty; the loads are others, and the sample has another order.
            let others = nodes.reversed().map { node($0.id, (900 - $0.load) % 1000) }
            #expect(place(others, channel: channel)?.node == first)
            // Other nodes come and go.
            let fewer = nodes.filter { $0.id == first || $0.id.hasSuffix("3") || $0.id.hasSuffix("6") }
            #expect(place(fewer, channel: channel)?.node == first)
            // Only when it takes channels no more, another one is chosen, by all the same.
            let without = nodes.filter { $0.id != first }
            let drained = without + [node(first, 0, isDraining: true)]
            #expect(place(drained, channel: channel)?.node == place(without, channel: channel)?.node)
            #expect(place(nodes, channel: channel, avoid: [first])?.node == place(without, channel: channel)?.node)
        }
        #expect(channels.count == 10 && channels.values.allSatisfy { (50...150).contains($0) }, "\(channels)")
    }

    @Test func someNodesTakeNothing() {
        let closed = [node("a", 1000), node("b", 0, isDraining: true), node("c", 0, until: 1)]
        #expect(place(closed) == nil)
        #expect(place(closed + [node("d", 999)])?.node == "d")
        // A node that the client could not reach is better than none.
        let two = [node("d", 0), node("e", 900)]
        for channel in ["x", "y", "z", "u", "v"] {
            #expect(place(two, channel: channel, avoid: ["d"])?.node == "e")
            #expect(place(two, channel: channel, avoid: ["d", "e"]) != nil)
        }
    }

    @Test func aNodeTakesJoinsOnlyWhileItHolds() {
        var hold = ChannelHold(node: "a", epoch: 7, now: 0)
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
        #expect(hold.answered(.taken(epoch: 7, node: "b"), asked: 9000) == false, "our own")
        #expect(hold.answered(.taken(epoch: 8, node: "b"), asked: 9100) == true)
        #expect(hold.state == .lost && !hold.takesJoins)
        // Nothing brings it back.
        #expect(hold.answered(.held, asked: 9200) == false)
        #expect(hold.answered(.taken(epoch: 9, node: "a"), asked: 9200) == false)
        #expect(hold.tick(isEmpty: true, now: 99_000) == false)
        #expect(hold.state == .lost)
    }

    @Test func aChannelThatWasPlacedWithItsNodeAgainGoesOn() {
        var hold = ChannelHold(node: "a", epoch: 7, now: 0)
        #expect(hold.answered(.held, asked: 100) == false)
        #expect(hold.answered(.taken(epoch: 5000, node: "a"), asked: 1100) == false)
        #expect(hold.epoch == 5000 && hold.state == .held(until: 4100))
        #expect(hold.answered(.taken(epoch: 4000, node: "b"), asked: 1200) == false, "of before")
        #expect(hold.answered(.taken(epoch: 5001, node: "b"), asked: 1200) == true)
        #expect(hold.epoch == 5000 && hold.state == .lost)
    }

    @Test func anEmptyChannelIsGivenUp() {
        var hold = ChannelHold(node: "a", epoch: 7, now: 0)
        #expect(hold.tick(isEmpty: true, now: 9999) == false)
        #expect(hold.tick(isEmpty: false, now: 10_000) == false)
        #expect(hold.tick(isEmpty: true, now: 11_000) == false)
        #expect(hold.tick(isEmpty: true, now: 20_999) == false)
        #expect(hold.tick(isEmpty: true, now: 21_000) == true)
        #expect(hold.state == .lost)
    }
}
