internal import ClusterBus
internal import ClusterService
internal import RedisClient
internal import SignalingProtocol
internal import Synchronization

/// The search for what a lost gateway held. It goes on from round to round, so that it comes to an end however
/// long an answer of Redis takes.
struct LostGatewaySearch: Sendable {
    /// Where the search is.
    var scan: RouteScan
    /// The routes that have been found and not been dealt with.
    private(set) var found: [FoundRoute] = []
    /// Whether anything was found since the search began.
    private(set) var hasFound = false

    /// A search that has not begun.
    init(_ gateway: GatewayID) { scan = RouteScan(gateway) }

    /// Adds what a page contained.
    mutating func add(_ routes: [FoundRoute]) {
        found += routes
        hasFound = hasFound || !routes.isEmpty
    }

    /// Takes up to `count` of the routes that have been found.
    mutating func takeFound(_ count: Int) -> [FoundRoute] {
        let some = Array(found.prefix(count))
        found.removeFirst(some.count)
        return some
    }
}

/// The searches of this process, between two rounds of each. Other instances may do rounds of the same
/// gateway; each has a search of its own.
final class LostGatewaySearches: Sendable {
    /// How long a search is kept: longer than the longest wait for a master that is away, and that for other timers. A
    /// gateway that was back meanwhile and is lost again has another ``EndedLease/loss``; one that ended its lease does
    /// not come back, because each run has a new id.
    private static let life = Duration.seconds(20)

    private struct Kept {
        let search: LostGatewaySearch
        let loss: RedisTime?
        let until: ContinuousClock.Instant
    }

    private let searches = Mutex<[GatewayID: Kept]>([:])

    /// The search for what a gateway held, which is taken out; a new one if none is kept.
    /// - Parameter loss: another loss of the gateway has another search; see ``EndedLease/loss``.
    func take(_ gateway: GatewayID, lostAt loss: RedisTime?) -> LostGatewaySearch {
        let kept = searches.withLock { $0.removeValue(forKey: gateway) }
        guard let kept, kept.loss == loss, kept.until > .now else { return LostGatewaySearch(gateway) }
        var search = kept.search
        search.scan.askAgain()
        return search
    }

    /// Keeps a search until the next round.
    func keep(_ search: LostGatewaySearch, _ gateway: GatewayID, lostAt loss: RedisTime?) {
        let now = ContinuousClock.now
        searches.withLock { searches in
            searches = searches.filter { $0.value.until > now }
            searches[gateway] = Kept(search: search, loss: loss, until: now + Self.life)
        }
    }

    /// Forgets the search for a gateway that is not lost.
    func drop(_ gateway: GatewayID) { searches.withLock { _ = $0.removeValue(forKey: gateway) } }
}

extension EndedLease {
    /// Tells one loss of a holder from another; nil when the holder itself ended the lease.
    var loss: RedisTime? { isGivenBack ? nil : abandonedAt }
}
