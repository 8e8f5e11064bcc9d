import Testing

@testable import GatewayAPILogic

@Suite struct APIConnectionTests {
    private static let second: Int64 = 1_000_000_000

    @Test func aStrangerMayNotWaitForLong() {
        var connection = APIConnection(now: 0)
        #expect(connection.check(now: 0) == (nil, 15 * Self.second))
        #expect(connection.check(now: 15 * Self.second).end == .idle)
        // A request in progress has limits of its own.
        connection.began()
        #expect(connection.check(now: 20 * Self.second) == (nil, nil))
        let mayGoOn = connection.answered(hasKey: false, now: 20 * Self.second)
        #expect(mayGoOn)
        #expect(connection.check(now: 34 * Self.second).end == nil)
        #expect(connection.check(now: 35 * Self.second).end == .idle)
    }

    @Test func aServerMayWait() {
        var connection = APIConnection(now: 0)
        connection.began()
        _ = connection.answered(hasKey: true, now: 0)
        #expect(connection.isProven)
        #expect(connection.check(now: 1000 * Self.second) == (nil, nil))
    }

    @Test(arguments: [true, false]) func whoTakesNothingIsEnded(hasKey: Bool) {
        var connection = APIConnection(now: 0)
        for _ in 0..<20 { connection.began() }
        _ = connection.answered(hasKey: hasKey, now: 0)
        connection.isWritable(false, now: Self.second)
        #expect(connection.check(now: 30 * Self.second) == (nil, 31 * Self.second))
        #expect(connection.check(now: 31 * Self.second).end == .stalled)
        connection.isWritable(true, now: 31 * Self.second)
        #expect(connection.check(now: 31 * Self.second).end == nil)
    }

    @Test func aStrangerGetsSoManyAnswers() {
        var stranger = APIConnection(now: 0)
        var server = APIConnection(now: 0)
        for number in 1...APIConnection.strangersAnswers {
            stranger.began()
            server.began()
            let mayGoOn = [
                stranger.answered(hasKey: false, now: 0), server.answered(hasKey: number == 3, now: 0),
            ]
            #expect(mayGoOn == [number < APIConnection.strangersAnswers, true])
        }
    }
}
