import Testing

@testable import MediaEngineLogic

@Suite struct DevicePaceTests {
    /// A device that is looked at every 10 ms.
    private struct Device {
        var pace = DevicePace()
        var now = MediaInstant(microseconds: 0)
        var total = 0

        /// Lets time pass in which so many samples come in each 10 ms; what is told.
        mutating func pass(_ time: MediaInterval, samples: Int) -> [DevicePace.Trouble] {
            let end = now + time
            var told: [DevicePace.Trouble] = []
            while now < end {
                now = now + .milliseconds(10)
                total &+= samples
                if let trouble = pace.look(total: total, now: now) { told.append(trouble) }
            }
            return told
        }
    }

    @Test func aDeviceThatHasNotBegunIsNotJudged() {
        var device = Device()
        #expect(device.pass(.seconds(60), samples: 0) == [])
    }

    @Test func aRightClockIsNotTold() {
        var device = Device()
        #expect(device.pass(.seconds(60), samples: 480) == [])
        // 4 % off.
        #expect(device.pass(.seconds(60), samples: 499) == [])
    }

    @Test func whoIsLateIsToldOnceUntilItGoesOn() {
        var device = Device()
        #expect(device.pass(.seconds(1), samples: 480) == [])
        #expect(device.pass(.milliseconds(490), samples: 0) == [])
        #expect(device.pass(.milliseconds(10), samples: 0) == [.late])
        #expect(device.pass(.milliseconds(9490), samples: 0) == [])
        #expect(device.pass(.milliseconds(10), samples: 0) == [.standstill])
        #expect(device.pass(.seconds(20), samples: 0) == [])
        // The pause is not the fault of its clock.
        #expect(device.pass(.seconds(20), samples: 480) == [])
        #expect(device.pass(.seconds(11), samples: 0) == [.late, .standstill])
    }

    @Test(arguments: [450, 510])
    func aWrongClockIsToldOnceUntilItIsRight(_ samples: Int) {
        var device = Device()
        #expect(device.pass(.seconds(10), samples: samples) == [])
        #expect(device.pass(.milliseconds(100), samples: samples) == [.offPace])
        #expect(device.pass(.seconds(30), samples: samples) == [])
        #expect(device.pass(.seconds(25), samples: 480) == [])
        #expect(device.pass(.seconds(21), samples: samples) == [.offPace])
    }

    /// A process that stood still has seen nothing, and its devices neither.
    @Test func whatStoodStillIsNotJudged() {
        var device = Device()
        #expect(device.pass(.seconds(9), samples: 480) == [])
        device.now = device.now + .seconds(5)
        #expect(device.pass(.seconds(30), samples: 480) == [])
    }

    @Test func numbersMayOverflow() {
        var device = Device()
        device.total = Int.max - 48_000
        #expect(device.pass(.seconds(21), samples: 480) == [])
    }
}
