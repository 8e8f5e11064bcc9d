import Testing

@testable import RedisClient

@Suite struct LinkEndsTests {
    /// Which links are dropped when links are opened, in this order.
    private static func dropped(_ openings: [(link: Int, runID: String)], closing closed: Int? = nil) -> [[Int]] {
        var ends = LinkEnds()
        return openings.map { opening in
            defer { if opening.link == closed { ends.closed(opening.link) } }
            return ends.opened(opening.link, runID: opening.runID)
        }
    }

    /// The server was replaced, and only one connection has noticed.
    @Test func allLinksEndAtOneServer() {
        #expect(
            Self.dropped([(0, "a"), (1, "a"), (2, "a"), (1, "b"), (0, "b"), (2, "b")])
                == [[], [], [], [0, 2], [], []])
    }

    @Test func aClosedLinkEndsNowhere() {
        #expect(Self.dropped([(0, "a"), (1, "b"), (0, "c")], closing: 0) == [[], [], [1]])
        #expect(Self.dropped([(0, "a"), (1, "b"), (0, "c")]) == [[], [0], [1]])
    }
}
