import Testing

@testable import MediaEngineLogic

@Suite struct SpeakingVolumesTests {
    private func report(_ volumes: inout SpeakingVolumes, _ levels: [UInt32: Double]) -> SpeakingVolumes.Report {
        for frame in 0..<50 {
            volumes.hear(levels.map { (uid: $0.key, samples: Tones.tone(level: $0.value, start: frame * 960)) })
        }
        return volumes.report()
    }

    @Test(arguments: [(-20.0, 170), (-40, 85), (-59, 4), (-62, 0), (-3.1, 242)]) func aTonesVolume(
        level: Double, volume: Int
    ) {
        var volumes = SpeakingVolumes(smooth: 1)
        let report = report(&volumes, [7: level])
        let expected = volume == 0 ? [] : [SpeakingVolumes.Speaker(uid: 7, volume: volume)]
        #expect(report.speakers == expected && report.total == volume)
    }

    @Test func theLoudestComesFirstAndPowersAdd() {
        var volumes = SpeakingVolumes(smooth: 0)
        let report = report(&volumes, [9: -30, 7: -30, 0: -20, 5: -90])
        #expect(report.speakers.map(\.uid) == [0, 7, 9])
        // -20 dB and twice -30 dB are -19.2 dB.
        #expect(report.total == 173)
    }

    @Test func theLevelIsThatOfTheWholeInterval() {
        var volumes = SpeakingVolumes(smooth: 1)
        for frame in 0..<10 {
            let tone = Tones.tone(level: -20, start: frame * 960)
            volumes.hear(frame < 5 ? [(uid: UInt32(7), samples: tone)] : [])
        }
        // Half of the time: -23 dB.
        #expect(volumes.report().speakers == [SpeakingVolumes.Speaker(uid: 7, volume: 157)])
    }

    @Test func smoothing() {
        var volumes = SpeakingVolumes(smooth: 3)
        var heard = (0..<3).map { _ in report(&volumes, [7: -20]).speakers.first?.volume }
        #expect(heard == [57, 94, 120])
        heard = (0..<16).map { _ in report(&volumes, [:]).speakers.first?.volume }
        #expect(heard.prefix(3) == [80, 53, 35])
        #expect(heard.last == .some(nil))
        #expect(volumes.report() == SpeakingVolumes.Report(speakers: [], total: 0))
    }
}
