import PostgresStore
import Testing

@Suite struct PostgresBreakerTests {
    private let lost = PostgresError(.timeout, "no answer")

    @Test func lettingThroughUntilAFailure() {
        var breaker = PostgresBreaker(longestPause: .seconds(1))
        #expect(breaker.refusal == nil)
        #expect(breaker.failed(lost) == .probe(after: .zero))
        #expect(breaker.refusal?.kind == .closed)
        #expect(breaker.refusal?.message.contains("no answer") == true)
        // Queries that were sent earlier fail later.
        #expect(breaker.failed(lost) == .none)
    }

    /// A process that starts tells a standby, which it refuses, from a server that it waits for.
    @Test func aStandbyIsToldFromNoAnswer() {
        var breaker = PostgresBreaker(longestPause: .seconds(1))
        _ = breaker.failed(lost)
        breaker.probes()
        _ = breaker.probed(PostgresError(.standby, "a standby"))
        #expect(breaker.refusal?.kind == .standby)
        breaker.probes()
        #expect(breaker.refusal?.kind == .standby)
        _ = breaker.probed(lost)
        #expect(breaker.refusal?.kind == .closed)
    }

    @Test func theFirstProbeThatSucceedsEndsIt() {
        var breaker = PostgresBreaker(longestPause: .seconds(1))
        _ = breaker.failed(lost)
        breaker.probes()
        #expect(breaker.refusal != nil)
        #expect(breaker.probed(nil) == .resume)
        #expect(breaker.refusal == nil)
        #expect(breaker.failed(lost) == .probe(after: .zero))
    }

    @Test func probesComeSlowerAndSlower() {
        var breaker = PostgresBreaker(longestPause: .milliseconds(300))
        _ = breaker.failed(lost)
        var pauses: [PostgresBreaker.Action] = []
        for _ in 0..<5 {
            breaker.probes()
            pauses.append(breaker.probed(lost))
        }
        #expect(pauses == [50, 100, 200, 300, 300].map { .probe(after: .milliseconds($0)) })
    }

    @Test func anAnswerThatNobodyAskedForChangesNothing() {
        var breaker = PostgresBreaker(longestPause: .seconds(1))
        #expect(breaker.probed(lost) == .none)
        #expect(breaker.refusal == nil)
        _ = breaker.failed(lost)
        #expect(breaker.probed(nil) == .none)
        #expect(breaker.refusal != nil)
    }
}
