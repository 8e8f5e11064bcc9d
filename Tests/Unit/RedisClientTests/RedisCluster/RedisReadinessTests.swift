import Testing

@testable import RedisClient

@Suite struct RedisReadinessTests {
    private static func state(
        masters: Int = 3, away: Int = 0, uncovered: [SlotRange] = [], lastFailure: RedisError? = nil,
        clockSpread: Duration? = nil
    ) -> RedisReadiness {
        RedisReadiness(
            ClusterReadiness(
                masters: masters, away: (0..<away).map { NodeAddress(host: "h", port: 7000 + $0) },
                uncovered: uncovered, lastFailure: lastFailure), clockSpread: clockSpread)
    }

    @Test func nothingIsWrong() {
        #expect(Self.state() == .ready)
        #expect(Self.state(clockSpread: .milliseconds(500)) == .ready)
    }

    @Test func moreThanHalfOfTheMastersAnswer() {
        #expect(Self.state(away: 1) == RedisReadiness(isReady: true, problem: "no answer from h:7000, of 3 masters"))
        #expect(
            Self.state(away: 2)
                == RedisReadiness(isReady: false, problem: "no answer from h:7000, h:7001, of 3 masters"))
        #expect(!Self.state(masters: 4, away: 2).isReady)
        #expect(Self.state(masters: 1, away: 1) == RedisReadiness(isReady: false, problem: "no answer from h:7000"))
        #expect(Self.state(masters: 30, away: 12).problem?.hasSuffix("h:7009 and 2 more, of 30 masters") == true)
    }

    @Test func theMastersAreNotKnown() {
        #expect(Self.state(masters: 0) == RedisReadiness(isReady: false, problem: "the masters are not known"))
        let reason = RedisError.timeout.description
        #expect(Self.state(masters: 0, lastFailure: .timeout).problem?.hasSuffix(reason) == true)
    }

    @Test func slotsAndClocks() {
        #expect(
            Self.state(uncovered: [0...99, 200...200], clockSpread: .milliseconds(1290))
                == RedisReadiness(
                    isReady: true,
                    problem: "nobody serves the slots 0-99 200; the masters' clocks are 1200 ms apart"))
    }
}
