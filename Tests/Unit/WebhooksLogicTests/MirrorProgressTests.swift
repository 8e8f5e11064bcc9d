import Testing
import WebhooksLogic

@Suite struct MirrorProgressTests {
    private func horizon(_ first: [String?], settling: Duration = .milliseconds(200)) -> Int64 {
        MirrorProgress.horizon(now: 10_000, first: first, settling: settling)
    }

    @Test func whatIsOlderThanAllEntriesMayBeSent() {
        #expect(horizon(["9000-3", nil, "8000-0"]) == 7_800_000)
    }

    @Test func withEmptyStreamsOnlyTheSettlingTimeIsWaitedFor() {
        #expect(horizon([nil, nil, nil]) == 9_800_000)
        #expect(horizon([], settling: .zero) == 10_000_000)
    }

    @Test func entriesAheadOfTheClockDoNotMoveIt() {
        #expect(horizon(["12000-0"]) == 9_800_000)
    }
}
