import Testing

@testable import GatewayLogic

@Suite struct SenderTrustTests {
    private static func at(_ seconds: Int64) -> LocalTime { LocalTime(nanoseconds: seconds * 1_000_000_000) }

    @Test func aSingleRedisChecksSendersItself() {
        let trust = SenderTrust(leaseTime: nil)
        #expect(
            trust.maySend {
                Issue.record("the time is not needed"); return Self.at(0)
            })
    }

    @Test func nothingIsSentBeforeTheLeaseIsHeldOrAfterItMayHaveExpired() {
        var trust = SenderTrust(leaseTime: .init(.seconds(10)))
        #expect(!trust.maySend { Self.at(0) })
        trust.leaseRenewed(at: Self.at(100), isConfirmed: true)
        #expect(trust.maySend { Self.at(109) })
        #expect(!trust.maySend { Self.at(110) })
    }

    @Test func anAnswerThatCameLateShortensNothing() {
        var trust = SenderTrust(leaseTime: .init(.seconds(10)))
        trust.leaseRenewed(at: Self.at(104), isConfirmed: true)
        trust.leaseRenewed(at: Self.at(100), isConfirmed: true)
        #expect(trust.maySend { Self.at(113) })
    }

    @Test func afterALostLeaseNothingIsSentBeforePresenceHasConfirmedTheSessions() {
        var trust = SenderTrust(leaseTime: .init(.seconds(10)))
        trust.leaseRenewed(at: Self.at(100), isConfirmed: false)
        #expect(trust.maySend { Self.at(101) }, "a lease that was never lost needs no confirmation")
        trust.leaseLost()
        trust.leaseRenewed(at: Self.at(120), isConfirmed: false)
        #expect(!trust.maySend { Self.at(121) })
        trust.leaseRenewed(at: Self.at(122), isConfirmed: true)
        #expect(trust.maySend { Self.at(123) })
        trust.leaseRenewed(at: Self.at(124), isConfirmed: false)
        #expect(trust.maySend { Self.at(133) })
    }
}
