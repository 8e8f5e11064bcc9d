import CMedia
import CMediaNode
import CMediaPeer
import Testing

/// Reports to participants, and what is counted and bounded of theirs.
@Suite struct NodeReportTests {
    @Test func reportsComeEvery100Milliseconds() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        channel.talk(anna, frames: 50)
        let counts = anna.counts
        #expect((9...11).contains(counts.receiver_reports) && (9...11).contains(counts.transport_reports))
        #expect(counts.block.ssrc == anna.ssrc && counts.block.fraction_lost == 0 && counts.block.lost == 0)
        #expect(bert.counts.receiver_reports == 0, "of nothing there is nothing to report")
        // A wrap of the numbers is one of what is reported.
        #expect(counts.block.sequence >= 0x10000)
        anna.skip(10)
        channel.talk(anna, frames: 10)
        #expect(anna.counts.block.lost == 10)
        channel.pass(milliseconds: 1000)
        let last = anna.counts.receiver_reports
        channel.pass(milliseconds: 1000)
        #expect(anna.counts.receiver_reports == last)
        let own = channel.counts(of: anna)
        #expect(own.audio_expected == 70 && own.audio_received == 60)
    }

    @Test func eachSlotHasSenderReports() throws {
        let channel = try Channel()
        let callers = try (1...3).map { try channel.join($0) }
        let listener = callers[0]
        channel.talk(callers[1], callers[2])
        #expect(listener.counts.sender_reports == 0, "none before the publishers' own")
        for caller in callers[1...] { caller.report(ntp: UInt64(caller.id) << 32) }
        channel.pass(milliseconds: 100)
        #expect(listener.counts.sender_reports == 2 && listener.counts.names == 1)
        let first = listener.counts.sender_report
        channel.talk(callers[1], callers[2], frames: 49)
        #expect(listener.counts.sender_reports == 2, "one a second")
        channel.talk(callers[1], callers[2], frames: 6)
        let counts = listener.counts
        #expect(counts.sender_reports == 4)
        // The publisher's clock goes on: NTP and timestamps by the same time, of which 10 ms are the turns'.
        let ntp = Double(counts.sender_report.ntp &- first.ntp) / 4_294_967_296
        let ticks = Double(counts.sender_report.timestamp &- first.timestamp) / 48_000
        #expect(abs(ntp - 1) < 0.11 && abs(ntp - ticks) < 0.001)
        #expect((60...65).contains(counts.sender_report.packets))
        // And the timestamps are those of the packets.
        let packets = listener.heard().filter { $0.rtp.ssrc == counts.sender_report_ssrc }
        let newest = try #require(packets.last)
        #expect(abs(Int32(bitPattern: newest.rtp.timestamp &- counts.sender_report.timestamp)) < 48_000 / 5)
    }

    @Test func roundTripsAreMeasured() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        channel.talk(anna, frames: 1)
        anna.report(ntp: 7 << 32)
        channel.talk(anna, frames: 20)
        let report = bert.counts
        #expect(report.sender_reports == 1)
        channel.pass(milliseconds: 150)
        var block = cm_report_block()
        block.ssrc = report.sender_report_ssrc
        block.fraction_lost = 25
        block.last_report = UInt32(truncatingIfNeeded: report.sender_report.ntp >> 16)
        // How long the receiver says it has kept the report: all but 150 ms and the rest of an interval.
        bert.tell(block)
        channel.run()
        let counts = channel.counts(of: bert)
        #expect(counts.fraction_lost == 25)
        #expect((150_000...650_000).contains(counts.round_trip), "\(counts.round_trip)")
        // Of a report that was never sent nothing is believed.
        block.last_report &+= 1
        block.delay = 1
        bert.tell(block)
        channel.run()
        #expect(channel.counts(of: bert).round_trip == counts.round_trip)
    }

    @Test func lossOfTheUplinkIsCounted() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        channel.talk(anna, bert, frames: 10)
        anna.skip(5)
        channel.talk(anna, bert, frames: 10)
        channel.pass(milliseconds: 100)
        let uplink = channel.counts.uplink
        #expect(uplink.audio_expected == 45 && uplink.audio_lost == 5)
        // A report of each 100 ms, of two; the clock is scripted, and frames come in time but for the skipped ones.
        #expect((8...12).contains(jitters(uplink).reduce(0, +)) && jitters(uplink)[0] >= 4)
        #expect(channel.counts.downlink.audio_expected == 0, "nobody has reported")
    }

    @Test func lossOfTheDownlinkIsThatOfReportsWithoutTheUplinks() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        var block = cm_report_block()
        func tell(lost: Int32, afterFrames frames: Int, ahead: UInt32 = 0) throws -> (expected: UInt64, lost: UInt64) {
            channel.talk(anna, frames: frames)
            if let newest = bert.heard().last { block.sequence = UInt32(newest.rtp.sequence) }
            (block.ssrc, block.lost) = (bert.slot, lost)
            block.sequence += ahead
            bert.tell(block)
            channel.run()
            return (channel.counts.downlink.audio_expected, channel.counts.downlink.audio_lost)
        }
        block.jitter = 480
        channel.talk(anna, frames: 10)
        anna.skip(5)
        #expect(try tell(lost: 5 + 3, afterFrames: 10) == (20, 3))
        #expect(try tell(lost: 5 + 3, afterFrames: 0) == (20, 3), "what is told twice counts once")
        // Two of them were only late, and then three are lost.
        #expect(try tell(lost: 5 + 1, afterFrames: 10) == (30, 3))
        #expect(try tell(lost: 5 + 4, afterFrames: 10) == (40, 4))
        // Nobody misses what was not sent.
        #expect(try tell(lost: 5 + 4, afterFrames: 0, ahead: 100) == (40, 4))
        #expect(try tell(lost: 1000, afterFrames: 10) == (50, 14))
        // After a restart it counts anew.
        #expect(channel.restart(bert) == 0)
        bert.renew()
        bert.check()
        channel.run()
        #expect(try tell(lost: 0, afterFrames: 10) == (60, 14))
        #expect(try tell(lost: 2, afterFrames: 10) == (70, 16))
        // 10 ms, of each report that said something new.
        #expect(jitters(channel.counts.downlink)[7] == 6 && channel.counts.downlink.jitter_sum == 60_000)
    }

    private func jitters(_ way: cm_way_counts) -> [UInt64] {
        withUnsafeBytes(of: way.jitters) { Array($0.bindMemory(to: UInt64.self)) }
    }

    @Test func whoSendsTooMuchIsReportedOnce() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        for second in 1...13 {
            for _ in 0..<50 {
                for _ in 0..<5 { anna.say() }
                channel.pass(milliseconds: 20)
            }
            bert.check()
            anna.check()
            if second < 10 { #expect(channel.count(CM_EVENT_LIMIT, of: anna) == 0, "second \(second)") }
        }
        #expect(channel.count(CM_EVENT_LIMIT, of: anna) == 1)
        let heard = Int(bert.counts.packets)
        #expect((200 * 13...200 * 14).contains(heard), "\(heard)")
        #expect(channel.dropped(CM_DROP_RATE) == UInt64(250 * 13 - heard))
        // Less, and all arrives.
        channel.pass(milliseconds: 1000)
        bert.check()
        channel.run()
        let before = bert.counts.packets
        channel.talk(anna, frames: 20)
        #expect(bert.counts.packets == before + 20)
    }

    @Test func othersForgeriesUseUpNobodysRate() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        channel.talk(anna, frames: 1)
        var forged = anna.last
        forged[30] ^= 1
        for number in 0..<400 {
            forged[3] = UInt8(number % 250)
            anna.send(forged)
            if number % 50 == 0 { channel.run() }
        }
        channel.run()
        channel.talk(anna, frames: 10)
        #expect(bert.counts.packets == 11 && channel.dropped(CM_DROP_RATE) == 0)
    }

    @Test func reportsAreBounded() throws {
        let channel = try Channel()
        let (anna, bert) = (try channel.join(1), try channel.join(2))
        for number in 0..<250 {
            anna.report(ntp: UInt64(number))
            if number % 50 == 0 { channel.run() }
        }
        channel.run()
        #expect(channel.dropped(CM_DROP_REPORT_RATE) == 50)
        channel.talk(anna, frames: 10)
        #expect(bert.counts.packets == 10, "audio goes on")
    }
}
