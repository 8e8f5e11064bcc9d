import Testing

@testable import RedisClient

@Suite struct MasterChoiceTests {
    /// Which answers are used, given by their epochs.
    private static func used(_ epochs: [Int64], of sentinels: Int) -> [Int64] {
        var choice = MasterChoice(sentinels: sentinels)
        return epochs.filter {
            choice.accepts(.init(master: NodeAddress(host: "a", port: 1), epoch: $0, sentinels: 1))
        }
    }

    @Test func aSentinelThatHasNotHeardOfAFailover() {
        #expect(Self.used([4, 5, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 5, 6], of: 3) == [4, 5, 5, 5, 6])
    }

    /// They count from 0 again.
    @Test func sentinelsThatWereSetUpAnew() {
        #expect(Self.used([9, 0, 0, 0, 0, 0, 0, 1, 0, 1], of: 2) == [9, 0, 0, 1, 1])
    }
}
