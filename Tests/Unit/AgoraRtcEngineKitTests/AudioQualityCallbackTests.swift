import MediaClient
import Testing

@testable import AgoraRtcEngineKit

@Suite struct AudioQualityCallbackTests {
    let app = OldDelegate()
    let script: EngineScript

    init() { script = EngineScript(app) }

    /// A report about two users, of whom one has numbers that no quality has.
    private func report() async {
        var statistics = MediaStatistics.after(2)
        statistics.audio = [
            .of(uid: 5, quality: 2, delay: 80, lost: 3), .of(uid: .max, quality: 6, delay: -1, lost: 100),
        ]
        script.join()
        script.happens(.statistics(statistics))
        await script.settle()
    }

    @Test func eachOtherUserIsReported() async {
        await report()
        #expect(app.told.lines.suffix(3) == ["stats 2 1000 2000 2", "quality 5 2 80 3", "quality 4294967295 6 0 100"])
    }

    @Test func theBlockReplacesTheDelegate() async {
        let told = app.told
        script.engine.audioQualityBlock { told.write("block \($0) \($1.rawValue) \($2) \($3)") }
        await report()
        #expect(app.told.lines.suffix(2) == ["block 5 2 80 3", "block 4294967295 6 0 100"])
        script.engine.audioQualityBlock(nil)
        script.happens(.statistics(.after(4)))
        var statistics = MediaStatistics.after(6)
        statistics.audio = [.of(uid: 5, quality: 1, delay: 0, lost: 0)]
        script.happens(.statistics(statistics))
        await script.settle()
        #expect(app.told.lines.last == "quality 5 1 0 0")
    }
}
