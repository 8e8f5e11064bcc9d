import ClusterBus
import ClusterState
import RedisClient
import SignalingProtocol
import Testing

@testable import ClusterService

/// What follows from the readings of a holder's leases.
@Suite struct LeaseVerdictTests {
    private static let delay = Duration.seconds(10)
    private static let now: Int64 = 1_000_000

    private static func at(_ milliseconds: Int64) -> RedisTime { RedisTime(milliseconds: milliseconds) }

    /// A lease of a server that has been answering since `since`.
    private static func read(
        _ lease: LeaseReading.Lease, of count: Int? = 3, now: Int64 = now, since: Int64? = now - 60_000
    ) -> LeaseVerdict.Dated? {
        (LeaseReading(lease: lease, count: lease == .absent ? nil : count, now: at(now)), since.map(at))
    }

    private static func alive(_ seconds: Int = 8) -> LeaseVerdict.Dated? { read(.alive(remaining: .seconds(seconds))) }

    private static func expired(_ heartbeat: Int64 = now - 12_000) -> LeaseVerdict.Dated? {
        read(.expired(lastHeartbeat: at(heartbeat)))
    }

    private static let absent = read(.absent)

    private static func verdict(_ found: LeaseVerdict.Dated?...) -> LeaseVerdict {
        LeaseVerdict(found, watchDelay: delay)
    }

    private static func lost(_ heartbeat: Int64, witness: Int, found: Int64 = now) -> LeaseVerdict {
        .ended(EndedLease(isGivenBack: false, abandonedAt: at(heartbeat), now: at(found), witness: witness))
    }

    private static let givenBack = LeaseVerdict.ended(
        EndedLease(isGivenBack: true, abandonedAt: at(now), now: at(now), witness: nil))

    @Test func aHolderIsAliveWhileMoreThanHalfOfItsLeasesAre() {
        #expect(Self.verdict(Self.alive(9), Self.alive(3), Self.alive(7)) == .alive(remaining: .seconds(7)))
        #expect(Self.verdict(nil, Self.alive(3), Self.alive(7)) == .alive(remaining: .seconds(3)))
        #expect(Self.verdict(Self.alive(4), Self.alive(3), Self.expired()) == .alive(remaining: .seconds(3)))
        #expect(Self.verdict(Self.absent, Self.alive(4), Self.alive(3)) == .alive(remaining: .seconds(3)))
    }

    @Test func aHolderIsLostWhenMoreThanHalfHaveEnded() {
        let (early, late) = (Self.now - 30_000, Self.now - 12_000)
        #expect(Self.verdict(Self.expired(early), Self.expired(late), Self.alive()) == Self.lost(late, witness: 0))
        #expect(Self.verdict(nil, Self.expired(late), Self.expired(early)) == Self.lost(late, witness: 1))
        #expect(Self.verdict(Self.absent, Self.expired(late), Self.alive()) == Self.lost(late, witness: 1))
    }

    @Test func whatCannotBeReadDecidesNothing() {
        #expect(Self.verdict(nil, Self.expired(), Self.alive()) == .undecided)
        #expect(Self.verdict(Self.alive(), nil, Self.expired()) == .undecided)
        #expect(Self.verdict(nil, nil, Self.expired()) == .undecided)
        #expect(Self.verdict(Self.alive(), nil, nil) == .undecided)
        #expect(Self.verdict(nil, nil, nil) == .undecided)
    }

    @Test func aLeaseIsExpiredOnlyWhenItsServerHasAnsweredLongEnough() {
        let heartbeat = Self.now - 30_000
        func expired(since: Int64?) -> LeaseVerdict.Dated? {
            Self.read(.expired(lastHeartbeat: Self.at(heartbeat)), since: since)
        }
        #expect(Self.verdict(expired(since: nil), Self.expired(), Self.alive()) == .undecided)
        #expect(Self.verdict(expired(since: Self.now - 9999), Self.expired(), Self.alive()) == .undecided)
        let since = Self.now - 10_000
        #expect(Self.verdict(expired(since: since), Self.expired(), Self.alive()) == Self.lost(since, witness: 0))
        // A server that has lost its data and answers again.
        let empty = Self.read(.absent, since: Self.now - 2000)
        #expect(Self.verdict(empty, Self.expired(), Self.alive()) == .undecided)
    }

    @Test func leasesAreGivenBackWhenMoreThanHalfAreGone() {
        #expect(Self.verdict(Self.absent, Self.absent, nil) == Self.givenBack)
        #expect(Self.verdict(Self.absent, Self.absent, Self.alive()) == Self.givenBack)
        #expect(Self.verdict(Self.absent, Self.absent, Self.absent) == Self.givenBack)
        #expect(Self.verdict(Self.read(.absent, since: nil)) == Self.givenBack, "whatever the server's uptime")
    }

    /// By no clock may what was attached after a lease was found expired count as attached before.
    @Test func theEndIsFoundByTheEarliestClock() {
        let late = Self.read(.expired(lastHeartbeat: Self.at(Self.now - 12_000)), now: Self.now + 400)
        #expect(Self.verdict(late, Self.expired(), Self.alive()) == Self.lost(Self.now - 12_000, witness: 0))
    }

    /// It renews only its first lease, and does not say how many it has.
    @Test func ofAnEarlierReleaseTheFirstLeaseDecides() {
        let alive = Self.read(.alive(remaining: .seconds(5)), of: 1)
        #expect(Self.verdict(alive, Self.absent, Self.absent) == .alive(remaining: .seconds(5)))
        let expired = Self.read(.expired(lastHeartbeat: Self.at(Self.now - 12_000)), of: 1)
        #expect(Self.verdict(expired, Self.absent, nil) == Self.lost(Self.now - 12_000, witness: 0))
        #expect(Self.verdict(nil, Self.absent, Self.absent) == .undecided, "the first cannot be read")
    }
}
