import SIPBridgeLogic
import Testing

@Suite struct DialogInfoQueueTests {
    private let one = DTMFEvent("1")!
    private let two = DTMFEvent("2")!

    @Test func digitsGoOneAtATime() throws {
        var queue = DialogInfoQueue()
        #expect(try queue.enqueue(DTMFDigits("12")) == [.send(.relay(one))])
        #expect(try queue.enqueue(DTMFDigits("1")) == [])
        #expect(queue.paused() == [])
        #expect(queue.answered(status: 200) == [.wait(.milliseconds(160))])
        #expect(queue.paused() == [.send(.relay(two))])
        #expect(queue.answered(status: 200) == [.wait(.milliseconds(160))])
        #expect(queue.paused() == [.send(.relay(one))])
        #expect(queue.answered(status: 200) == [.wait(.milliseconds(160))])
        #expect(queue.paused() == [])
        #expect(try queue.enqueue(DTMFDigits("2")) == [.send(.relay(two))])
    }

    @Test func aCommaIsAPause() throws {
        var queue = DialogInfoQueue()
        #expect(try queue.enqueue(DTMFDigits(",1")) == [.wait(.milliseconds(500))])
        #expect(queue.paused() == [.send(.relay(one))])
    }

    @Test(arguments: [405, 415]) func aRefusedTypeIsReplacedByTheOtherForGood(status: Int) throws {
        var queue = DialogInfoQueue()
        _ = try queue.enqueue(DTMFDigits("12"))
        #expect(queue.answered(status: status) == [.send(.plain(one))])
        #expect(queue.answered(status: 200) == [.wait(.milliseconds(160))])
        #expect(queue.paused() == [.send(.plain(two))])
    }

    @Test func aPeerThatTakesNeitherGetsNoMore() throws {
        var queue = DialogInfoQueue()
        _ = try queue.enqueue(DTMFDigits("12"))
        _ = queue.answered(status: 415)
        #expect(queue.answered(status: 405) == [.refused(status: 405)])
        #expect(queue.isRefused)
        #expect(queue.paused() == [])
        #expect(throws: DTMFError.unavailable) { try queue.enqueue(DTMFDigits("1")) }
    }

    @Test func aLostDigitDoesNotStopTheNext() throws {
        var queue = DialogInfoQueue()
        _ = try queue.enqueue(DTMFDigits("12"))
        #expect(queue.answered(status: nil) == [.digitFailed(status: nil), .wait(.milliseconds(160))])
        #expect(queue.paused() == [.send(.relay(two))])
        #expect(queue.answered(status: 500) == [.digitFailed(status: 500), .wait(.milliseconds(160))])
    }

    @Test func theQueueIsBounded() throws {
        var queue = DialogInfoQueue()
        let text = try DTMFDigits(String(repeating: "1", count: 128))
        _ = try queue.enqueue(text)
        _ = try queue.enqueue(text)
        #expect(throws: DTMFError.full(bound: DialogInfoQueue.bound)) { try queue.enqueue(text) }
    }
}
