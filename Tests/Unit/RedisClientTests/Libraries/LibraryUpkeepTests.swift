import ClusterState
import SignalingProtocol
import Testing

@testable import RedisClient

@Suite struct LibraryUpkeepTests {
    private static let now = RedisTime(milliseconds: 1_000_000_000_000)
    private static let old = now + (.zero - .seconds(7 * 86_400) - .milliseconds(1))
    private static let mine = "heliograph_mine_00000000"
    private static let other = "heliograph_other_0123abcd"

    private static func plan(_ present: [String], _ named: [String: RedisTime]) -> LibraryUpkeep.Plan {
        LibraryUpkeep.plan(used: [mine], present: present, named: named, now: now)
    }

    @Test func whatNobodyNamedForSevenDaysIsDeleted() {
        #expect(Self.plan([Self.mine, Self.other], [Self.other: Self.old]).stale == [Self.other])
        #expect(Self.plan([Self.mine, Self.other], [Self.other: Self.old + .milliseconds(1)]).stale == [])
    }

    @Test func oneThatIsSeenForTheFirstTimeHasSevenDays() {
        let plan = Self.plan([Self.mine, Self.other], [:])
        #expect(plan == LibraryUpkeep.Plan(used: [Self.mine], found: [Self.other], stale: [], gone: []))
    }

    @Test func onesOwnIsKept() {
        #expect(Self.plan([Self.mine], [Self.mine: Self.old]).stale == [])
    }

    @Test(arguments: ["billing_0123abcd", "heliograph_other", "heliograph_other_0123ABCD", "my_heliograph_x_0123abcd"])
    func whatOthersKeepInThisRedisStays(name: String) {
        let plan = Self.plan([Self.mine, name], [name: Self.old])
        #expect(plan.stale == [])
        #expect(plan.found == [])
    }

    @Test func aNameIsKeptUntilEveryMasterHasHadTheTimeToDeleteTheLibrary() {
        let before = Self.old + (.zero - LibraryUpkeep.grace)
        #expect(Self.plan([Self.mine], [Self.other: Self.old]).gone == [])
        #expect(Self.plan([Self.mine], [Self.other: before, Self.mine: before]).gone == [Self.other])
    }
}
