import Pacing
import Testing

@testable import GatewayLogic

@Suite struct SenderTrustTests {
    private static let partitions = 4

    private static func at(_ seconds: Int64) -> LocalTime { LocalTime(nanoseconds: seconds * 1_000_000_000) }

    private static func trust(leases: Int = 3, isNeeded: Bool = true) -> Script {
        Script(
            SenderTrust(leases: leases, leaseTime: .init(.seconds(10)), partitions: partitions, isNeeded: isNeeded))
    }

    /// A shard that has taken all its leases at 100 s.
    private static func begun(leases: Int = 3) -> Script {
        let trust = trust(leases: leases)
        for lease in 0..<leases { #expect(!trust.renew(lease, 100, wasHeld: false)) }
        return trust
    }

    @Test func aSingleRedisChecksSendersItself() {
        let trust = Self.trust(leases: 1, isNeeded: false)
        #expect(
            trust.trust.maySend(
                at: {
                    Issue.record("the time is not needed"); return Self.at(0)
                },
                from: {
                    Issue.record("the partition is not needed"); return 0
                }))
    }

    @Test func nothingIsSentBeforeMoreThanHalfOfTheLeasesAreHeldOrAfterTheyMayHaveExpired() {
        let trust = Self.trust()
        #expect(!trust.maySend(100) && !trust.hasBegun)
        #expect(!trust.renew(2, 100, wasHeld: false))
        #expect(!trust.maySend(101) && !trust.hasBegun, "one of three")
        #expect(!trust.renew(0, 101, wasHeld: false))
        #expect(trust.maySend(101) && trust.hasBegun)
        #expect(trust.maySend(109))
        #expect(!trust.maySend(110), "the earlier of the two may have expired")
    }

    @Test func anAnswerThatCameLateShortensNothing() {
        let trust = Self.begun(leases: 1)
        #expect(!trust.renew(0, 104) && !trust.renew(0, 102))
        #expect(trust.maySend(113) && !trust.maySend(114))
    }

    /// The master of one lease is away, or the way to it is cut.
    @Test func oneLeaseOfThreeMayExpire() {
        let trust = Self.begun()
        for time: Int64 in stride(from: 102, to: 130, by: 2) {
            #expect(!trust.renew(0, time) && !trust.renew(1, time))
            #expect(trust.maySend(time))
        }
        // It had expired: no session is told again, and nothing pauses.
        #expect(!trust.renew(2, 130, wasHeld: false))
        #expect(trust.maySend(137))
        #expect(!trust.maySend(138))
    }

    /// A watcher may have read it as expired and may still be reading the others.
    @Test func aLeaseThatHadExpiredCountsOnlyWhenItHasBeenHeldForATimeToLive() {
        let trust = Self.begun()
        for lease in 0...1 { #expect(!trust.renew(lease, 110)) }
        #expect(!trust.renew(2, 112, wasHeld: false))
        for time: Int64 in [114, 116, 118, 120] { #expect(!trust.renew(0, time) && !trust.renew(2, time)) }
        #expect(trust.maySend(119))
        #expect(!trust.maySend(120), "the second has expired and the third does not count yet")
        #expect(!trust.renew(2, 122))
        #expect(trust.maySend(122), "it counts now, and nothing was lost")
        #expect(trust.maySend(129))
    }

    @Test func afterLostLeasesEachPartitionIsTrustedWhenPresenceHasConfirmedItsSessions() {
        let trust = Self.begun()
        #expect(!trust.renew(0, 120), "held all the time: only the answers were late")
        #expect(trust.renew(1, 120, wasHeld: false), "one of three is held")
        #expect(!trust.renew(2, 120, wasHeld: false), "the two others count, as everything is told again")
        #expect(!(0..<Self.partitions).contains { trust.maySend(121, from: $0) })
        trust.confirm { $0 == 3 }
        #expect(trust.maySend(121, from: 3) && !trust.maySend(121, from: 2))
        trust.confirm { $0 != 0 }
        #expect(!trust.renew(0, 124) && !trust.renew(1, 124))
        #expect(trust.maySend(133, from: 1) && !trust.maySend(133, from: 0))
        trust.confirm { _ in true }
        #expect(trust.maySend(133, from: 0))
    }

    @Test func leasesThatAreLostOneAfterTheOtherAreLost() {
        let trust = Self.begun()
        for lease in 0...1 { #expect(!trust.renew(lease, 108)) }
        #expect(!trust.renew(2, 112, wasHeld: false))
        #expect(trust.renew(1, 114, wasHeld: false), "the third has not been held for long enough")
        #expect(!trust.maySend(115))
    }

    @Test func theOnlyLeaseOfASingleRedisIsLostWhenItHadExpired() {
        let trust = Self.begun(leases: 1)
        #expect(!trust.renew(0, 109))
        #expect(trust.renew(0, 111, wasHeld: false))
        #expect(trust.renew(0, 113, wasHeld: false), "again")
    }
}

/// Times in seconds.
private final class Script {
    private(set) var trust: SenderTrust

    init(_ trust: SenderTrust) { self.trust = trust }

    var hasBegun: Bool { trust.hasBegun }

    /// A renewal that is answered at once.
    func renew(_ lease: Int, _ seconds: Int64, wasHeld: Bool = true) -> Bool {
        let time = LocalTime(nanoseconds: seconds * 1_000_000_000)
        return trust.leaseRenewed(lease, askedAt: time, wasHeld: wasHeld, now: time)
    }

    func confirm(_ isAnswered: (Int) -> Bool) { trust.confirm(isAnswered) }

    func maySend(_ seconds: Int64, from partition: Int = 0) -> Bool {
        trust.maySend(at: { LocalTime(nanoseconds: seconds * 1_000_000_000) }, from: { partition })
    }
}
