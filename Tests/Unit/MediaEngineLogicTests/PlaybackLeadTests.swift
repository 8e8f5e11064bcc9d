import Testing

@testable import MediaEngineLogic

@Suite struct PlaybackLeadTests {
    private func at(_ seconds: Int) -> MediaInstant { MediaInstant(microseconds: Int64(seconds) * 1_000_000) }

    @Test func providesForTheLargestRequest() {
        var lead = PlaybackLead()
        #expect(lead.target(largest: 0, missed: 0, now: at(0)) == 960 + 480)
        #expect(lead.target(largest: 2048, missed: 0, now: at(1)) == 2048 + 480)
        #expect(lead.target(largest: 1_000_000, missed: 0, now: at(2)) == 4096 + 480)
    }

    @Test func growsWithWhatIsMissedUpToItsBound() {
        var lead = PlaybackLead()
        #expect(lead.target(largest: 960, missed: 100, now: at(0)) == 960 + 960)
        // The same number says that nothing more was missed.
        #expect(lead.target(largest: 960, missed: 100, now: at(1)) == 960 + 960)
        for step in 2..<20 { _ = lead.target(largest: 960, missed: step * 1000, now: at(step)) }
        #expect(lead.target(largest: 960, missed: 100_000, now: at(20)) == 960 + PlaybackLead.greatestReserve)
    }

    @Test func shrinksAfterTenCalmSecondsDownToItsLeast() {
        var lead = PlaybackLead()
        _ = lead.target(largest: 960, missed: 1, now: at(0))
        _ = lead.target(largest: 960, missed: 2, now: at(1))
        #expect(lead.target(largest: 960, missed: 2, now: at(10)) == 960 + 1440)
        #expect(lead.target(largest: 960, missed: 2, now: at(11)) == 960 + 960)
        #expect(lead.target(largest: 960, missed: 2, now: at(20)) == 960 + 960)
        #expect(lead.target(largest: 960, missed: 2, now: at(21)) == 960 + 480)
        #expect(lead.target(largest: 960, missed: 2, now: at(60)) == 960 + 480)
    }
}
