import Testing

@testable import MediaEngineLogic

@Suite struct CallStatisticsTests {
    private func at(_ milliseconds: Int) -> MediaInstant { MediaInstant(microseconds: Int64(milliseconds) * 1000) }

    private func nextReport(_ statistics: inout CallStatistics, at milliseconds: Int) throws -> CallStatistics.Report {
        let report = statistics.report(at: at(milliseconds))
        return try #require(report)
    }

    private func isSilent(_ statistics: inout CallStatistics, at milliseconds: Int) -> Bool {
        statistics.report(at: at(milliseconds)) == nil
    }

    @Test func reportsComeEveryTwoSeconds() throws {
        var statistics = CallStatistics(joined: at(500))
        #expect(isSilent(&statistics, at: 2499))
        let after2500 = try nextReport(&statistics, at: 2500)
        #expect(after2500.duration == 2)
        #expect(isSilent(&statistics, at: 2500))
        // A late timer does not shift those after it, as long as a second is between.
        let after4700 = try nextReport(&statistics, at: 4700)
        #expect(after4700.duration == 4)
        #expect(statistics.nextReport == at(6500))
        let after8200 = try nextReport(&statistics, at: 8200)
        #expect(after8200.duration == 8)
        #expect(statistics.nextReport == at(9200))
    }

    @Test(arguments: UInt64(1)...20) func durationsGrowAndBytesNeverFall(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var statistics = CallStatistics(joined: at(0))
        var former: CallStatistics.Report?
        var time = 0
        for _ in 0..<2000 {
            time += .random(in: 0...700, using: &random)
            statistics.send(bytes: .random(in: 0...200, using: &random))
            statistics.receive(bytes: .random(in: 0...200, using: &random))
            guard let report = statistics.report(at: at(time)) else { continue }
            if let former {
                #expect(report.duration > former.duration)
                #expect(report.traffic.sentBytes >= former.traffic.sentBytes)
                #expect(report.traffic.receivedPackets >= former.traffic.receivedPackets)
            }
            // What is told is also true.
            #expect(abs(report.duration - time / 1000) <= 1)
            former = report
        }
        #expect(former?.traffic.sentPackets ?? 0 > 1900)
    }

    @Test func rates() throws {
        var statistics = CallStatistics(joined: at(0))
        for _ in 0..<100 {
            statistics.send(bytes: 125)
            statistics.receive(bytes: 250)
            statistics.receive(bytes: 250)
        }
        let report = try nextReport(&statistics, at: 2000)
        #expect(report.sentKilobits == 50 && report.receivedKilobits == 200)
        #expect(
            report.traffic
                == CallStatistics.Traffic(
                    sentBytes: 12_500, receivedBytes: 50_000, sentPackets: 100, receivedPackets: 200))
        let idle = try nextReport(&statistics, at: 4000)
        #expect(idle.sentKilobits == 0 && idle.traffic == report.traffic)
    }

    @Test func usersAreJudged() throws {
        var statistics = CallStatistics(joined: at(0))
        for uid in UInt32(7)...10 { statistics.userJoined(uid, at: at(0)) }
        statistics.setMuted(true, uid: 9, at: at(0))
        statistics.setDelay(.milliseconds(120), uid: 7)
        for index in 0..<100 {
            let now = at(20 * index)
            statistics.receiveAudio(uid: 7, sequence: UInt16(index), isFirst: index == 0, at: now)
            if index % 10 != 5 {
                statistics.receiveAudio(uid: 8, sequence: UInt16(index), isFirst: index == 0, at: now)
            }
            statistics.receiveAudio(uid: 77, sequence: UInt16(index), isFirst: index == 0, at: now)
        }
        let report = try nextReport(&statistics, at: 2000)
        #expect(report.users.map(\.uid) == [7, 8, 10])
        #expect(report.users.map(\.quality) == [.excellent, .bad, .down])
        #expect(report.users[0].delay == .milliseconds(120) && report.users[0].lostPercent == 0)
        #expect(report.users[1].lostPercent == 10)
        statistics.userLeft(8)
        statistics.setMuted(false, uid: 9, at: at(3500))
        for index in 0..<20 {
            statistics.receiveAudio(uid: 9, sequence: UInt16(index), isFirst: index == 0, at: at(3500 + 20 * index))
        }
        let next = try nextReport(&statistics, at: 4000)
        #expect(next.users.map(\.uid) == [7, 9, 10])
        // 0.4 s are too little to judge.
        #expect(next.users.map(\.quality) == [.down, .unknown, .down])
    }

    @Test func noMoreUsersThanTheBound() throws {
        var statistics = CallStatistics(joined: at(0))
        for uid in UInt32(1)...600 { statistics.userJoined(uid, at: at(0)) }
        let users = try nextReport(&statistics, at: 2000).users
        #expect(users.count == CallStatistics.capacity)
    }
}
