import CMedia
import Testing

@Suite struct LossTests {
    private final class Scene {
        let reception = Kept<cm_reception>()
        var now: UInt64 = 1_000_000

        @discardableResult func put(_ sequence: UInt16, timestamp: UInt32 = 0) -> Bool {
            var rtp = cm_rtp()
            rtp.sequence = sequence
            rtp.timestamp = timestamp
            return cm_reception_put(reception.pointer, &rtp, 90_000, now)
        }

        func nack(roundTrip: UInt64 = 50_000) -> (asked: [UInt16], hasLost: Bool) {
            var sequences = [UInt16](repeating: 0, count: Int(CM_MISSING))
            var hasLost = false
            let count = cm_reception_nack(reception.pointer, roundTrip, now, &sequences, &hasLost)
            return (Array(sequences[..<Int(count)]), hasLost)
        }

        func report() -> cm_report_block {
            var block = cm_report_block()
            cm_reception_report(reception.pointer, &block)
            return block
        }
    }

    @Test func whatIsMissingIsAskedForInTime() {
        let scene = Scene()
        scene.put(65_534)
        scene.put(1)
        #expect(scene.nack().asked == [], "it may only have been overtaken")
        scene.now += UInt64(CM_NACK_AFTER)
        scene.put(0)
        #expect(scene.nack().asked == [65_535])
        scene.now += 49_999
        #expect(scene.nack().asked == [])
        scene.now += 1
        #expect(scene.nack().asked == [65_535])
        scene.now += 49_000
        #expect(scene.nack(roundTrip: 0).asked == [65_535], "never more often than every 20 ms")
        #expect(scene.nack(roundTrip: 0).asked == [])
        #expect(cm_reception_recovered(scene.reception.pointer, 65_535))
        #expect(!cm_reception_recovered(scene.reception.pointer, 65_535))
        scene.now += 1_000_000
        #expect(scene.nack().asked == [])
    }

    @Test func triesEnd() {
        let scene = Scene()
        scene.put(1)
        scene.put(3)
        var tries = 0
        while true {
            scene.now += 50_000
            let (asked, hasLost) = scene.nack()
            if hasLost { break }
            #expect(asked == [2])
            tries += 1
        }
        #expect(tries == Int(CM_NACK_TRIES))
        #expect(scene.nack().asked == [])
    }

    @Test func tooMuchIsForgotten() {
        let scene = Scene()
        #expect(scene.put(1))
        #expect(scene.put(2 + UInt16(CM_MISSING)))
        scene.now += 20_000
        #expect(scene.nack().asked.count == Int(CM_MISSING))
        #expect(!scene.put(4 + UInt16(CM_MISSING)), "one more needs a key frame")
        scene.now += 1_000_000
        #expect(scene.nack().asked == [])
        #expect(scene.put(5 + UInt16(CM_MISSING)))
    }

    @Test func aPacketFromFarOffIsABeginningOnlyWhenTheNextFollows() {
        let scene = Scene()
        scene.put(1)
        scene.put(3)
        // Strays, one by one: nothing is forgotten, nothing is counted.
        for stray: UInt16 in [40_000, 40_002, 50_000] {
            #expect(scene.put(stray))
            #expect(scene.put(3))
        }
        #expect(scene.put(40_000))
        #expect(scene.put(4))
        #expect(scene.put(40_001), "another packet came between")
        scene.now += UInt64(CM_NACK_AFTER)
        #expect(scene.nack().asked == [2])
        #expect(scene.report().sequence == 4)
        // A source that begins anew, with lower numbers or higher ones.
        #expect(scene.put(30_000))
        #expect(!scene.put(30_001), "all that was missing is forgotten")
        #expect(scene.put(30_002))
        #expect(scene.nack().asked == [])
        let report = scene.report()
        #expect(report.sequence == 30_002 && report.lost == 0)
    }

    @Test func reportsCountLosses() {
        let scene = Scene()
        for sequence in 65_500...65_535 { scene.put(UInt16(sequence)) }
        #expect(scene.report().fraction_lost == 0)
        for sequence in 0..<100 where sequence % 4 != 1 { scene.put(UInt16(sequence)) }
        scene.put(0)
        let report = scene.report()
        #expect(report.sequence == 0x1_0063)
        #expect(report.fraction_lost == 64)
        #expect(report.lost == 25)
        // A retransmission in time is no loss; the next report begins anew.
        scene.put(97)
        #expect(scene.report().lost == 24)
        #expect(scene.report().fraction_lost == 0)
    }

    @Test func jitterIsOfRFC3550() {
        let scene = Scene()
        for index in 0..<200 {
            scene.now = 1_000_000 + UInt64(index) * 20_000
            scene.put(UInt16(index), timestamp: UInt32(index) * 1800)
        }
        #expect(scene.report().jitter == 0)
        // Every second packet comes 10 ms late: 900 units, from one to the next.
        for index in 200..<600 {
            scene.now = 1_000_000 + UInt64(index) * 20_000 + UInt64(index % 2) * 10_000
            scene.put(UInt16(index), timestamp: UInt32(index) * 1800)
        }
        #expect((880...900).contains(scene.report().jitter))
        // A clock that jumps is not the network's.
        scene.put(600, timestamp: 0x8000_0000)
        #expect((800...900).contains(scene.report().jitter))
    }

    @Test func keyFramesAreAskedForInOnePlace() {
        let request = Kept<cm_key_request>()
        #expect(!cm_key_poll(request.pointer, 0))
        #expect(cm_key_wish(request.pointer, 1000))
        var asked = 0
        for time in stride(from: UInt64(1000), to: 501_000, by: 1000) where cm_key_wish(request.pointer, time) {
            asked += 1
        }
        #expect(asked == 0, "500 wishes within 500 ms")
        #expect(request.pointer.pointee.suppressed == 500)
        #expect(cm_key_wish(request.pointer, 501_000))
        // Again each second until a key frame came.
        #expect(!cm_key_poll(request.pointer, 1_500_999))
        #expect(cm_key_poll(request.pointer, 1_501_000))
        #expect(!cm_key_poll(request.pointer, 1_502_000))
        #expect(cm_key_poll(request.pointer, 2_501_000))
        cm_key_arrived(request.pointer)
        #expect(!cm_key_poll(request.pointer, 9_000_000))
        #expect(request.pointer.pointee.sent == 4)
    }

    @Test func aSecondViewerWaitsForTheIntervalOnly() {
        let request = Kept<cm_key_request>()
        #expect(cm_key_wish(request.pointer, 1000))
        cm_key_arrived(request.pointer)
        #expect(!cm_key_wish(request.pointer, 201_000))
        #expect(!cm_key_poll(request.pointer, 500_999))
        #expect(cm_key_poll(request.pointer, 501_000), "that request's key frame came before the wish")
        // This one is not answered: repeated each second, whoever wishes.
        #expect(!cm_key_wish(request.pointer, 701_000))
        #expect(!cm_key_poll(request.pointer, 1_500_999))
        #expect(cm_key_poll(request.pointer, 1_501_000))
        // A key frame that nobody asked for answers as well.
        cm_key_arrived(request.pointer)
        #expect(!cm_key_poll(request.pointer, 9_000_000))
    }
}
