import PresenceLogic
import SignalingProtocol
import Testing

@Suite struct BanTurnsTests {
    /// Checks the next page of apps that have so many bans, named by numbers.
    private static func check(_ turns: inout BanTurns, _ bans: [AppID: Int]) throws -> BanTurns.Page {
        let page = try #require(turns.next)
        var found: [AppID: [Account]] = [:]
        for place in page.places {
            let start = place.last.isEmpty ? 0 : (Int(place.last) ?? 0) - 1_000_000 + 1
            let end = min(bans[place.app] ?? 0, start + page.limit)
            found[place.app] = try (start..<max(start, end)).map { try Account("\(1_000_000 + $0)") }
        }
        turns.checked(page, found)
        return page
    }

    @Test func anAppWithManyBansDoesNotDelayAnother() throws {
        let (many, one) = (try AppID("a"), try AppID("b"))
        var turns = BanTurns()
        turns.begin([many, one])
        let first = try Self.check(&turns, [many: 100_000, one: 1])
        #expect(first == .init(places: [.init(app: many, last: ""), .init(app: one, last: "")], limit: 250))
        // Only the app that has more goes on, with whole pages.
        #expect(turns.next == .init(places: [.init(app: many, last: "1000249")], limit: 500))
        _ = try Self.check(&turns, [many: 100_000])
        // The next round begins before this one is over: the other app is checked again with the first page.
        turns.begin([many, one])
        #expect(
            turns.next == .init(places: [.init(app: many, last: "1000749"), .init(app: one, last: "")], limit: 250))
    }

    @Test func aRoundEndsWhenAllHaveBeenChecked() throws {
        let apps = try (0..<120).map { try AppID("app\($0)") }
        var turns = BanTurns()
        turns.begin(apps)
        var checked: [AppID] = []
        while turns.next != nil {
            checked += try Self.check(&turns, Dictionary(uniqueKeysWithValues: apps.map { ($0, 9) })).places.map(\.app)
        }
        #expect(checked == apps)
    }

    @Test func whatARoundDidNotComeToIsFirstInTheNext() throws {
        let apps = try (0..<120).map { try AppID("app\($0)") }
        var turns = BanTurns()
        turns.begin(apps)
        _ = try Self.check(&turns, [:])
        turns.begin(apps)
        #expect(turns.next?.places.first?.app == apps[50])
    }

    /// Exactly a page: there may be more.
    @Test func anAppWithAPageIsLookedAtOnceMore() throws {
        let app = try AppID("a")
        var turns = BanTurns()
        turns.begin([app])
        _ = try Self.check(&turns, [app: 500])
        #expect(turns.next == .init(places: [.init(app: app, last: "1000499")], limit: 500))
        _ = try Self.check(&turns, [app: 500])
        #expect(turns.next == nil)
    }

    @Test func anAppThatIsGoneIsForgotten() throws {
        let app = try AppID("a")
        var turns = BanTurns()
        turns.begin([app])
        turns.begin([])
        #expect(turns.next == nil)
    }
}
