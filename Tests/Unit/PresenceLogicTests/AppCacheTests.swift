import PresenceLogic
import SignalingProtocol
import Testing

@Suite struct AppCacheTests {
    private let settings = AppSettings(certificate: "c", tokenRequired: true)

    @Test func anEntryIsFreshForASecond() throws {
        var cache = AppCache()
        let app = try AppID("app")
        #expect(cache.find(app, now: 0) == .missing)
        cache.store(settings, for: app, now: 0)
        #expect(cache.find(app, now: 999) == .fresh(settings))
        #expect(cache.find(app, now: 1000) == .stale(settings))
    }

    @Test func unknownAppsAreRememberedToo() throws {
        var cache = AppCache()
        let app = try AppID("app")
        cache.store(nil, for: app, now: 0)
        #expect(cache.find(app, now: 1) == .fresh(nil))
    }

    @Test func aFloodOfUnknownIdsDoesNotPushOutKnownApps() throws {
        var cache = AppCache()
        let app = try AppID("app")
        cache.store(settings, for: app, now: 0)
        for number in 0..<(2 * AppCache.bound) { cache.store(nil, for: try AppID("x\(number)"), now: 1) }
        #expect(cache.find(app, now: 5000) == .stale(settings))
    }
}
