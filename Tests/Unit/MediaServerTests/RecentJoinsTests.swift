import SignalingProtocol
import Testing

@testable import MediaServer

@Suite struct RecentJoinsTests {
    private let now = ContinuousClock.now

    private func answer(of pid: ParticipantID, _ joins: RecentJoins) async -> MediaRefusal? {
        var joins = joins
        let answer: RecentJoins.Answer = await withCheckedContinuation { waiting in
            if !joins.wait(for: pid, waiting) { waiting.resume(returning: .failure(.noNode)) }
        }
        if case .failure(let refusal) = answer { return refusal }
        return nil
    }

    @Test func answersAreKeptForTenSeconds() async {
        var joins = RecentJoins()
        let pid = ParticipantID("anna")
        let isFirst = joins.begin(pid, now: now)
        let isAgain = joins.begin(pid, now: now)
        #expect(isFirst && !isAgain && joins.isUnderway(pid))
        joins.finish(pid, .failure(.channelFull), now: now)
        let isForgotten = joins.begin(pid, now: now + .seconds(9))
        #expect(!isForgotten && !joins.isUnderway(pid))
        #expect(await answer(of: pid, joins) == .channelFull)
        let isNew = joins.begin(pid, now: now + .seconds(10))
        #expect(isNew)
        #expect(await answer(of: ParticipantID("bert"), joins) == .noNode)
    }

    @Test func thereIsABound() {
        var joins = RecentJoins()
        let pids = (0...RecentJoins.most).map { ParticipantID("\($0)") }
        for pid in pids {
            _ = joins.begin(pid, now: now)
            joins.finish(pid, .failure(.refused), now: now)
        }
        // The oldest is forgotten, the others are not.
        let forgotten = pids.prefix(2).map { joins.begin($0, now: now) }
        #expect(forgotten == [true, false])
    }

    @Test func aSecondHasItsJoins() {
        var rate = JoinRate(perSecond: 2)
        let taken = [0, 100, 200, 999, 1000, 1100, 1200].map { rate.take(now: now + .milliseconds($0)) }
        #expect(taken == [true, true, false, false, true, true, false])
    }
}
