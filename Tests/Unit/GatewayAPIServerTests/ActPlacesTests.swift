import GatewayAPILogic
import Synchronization
import TestKit
import Testing

@testable import GatewayAPIServer

@Suite struct ActPlacesTests {
    /// Who had its turn.
    private final class Order: Sendable {
        let numbers = Mutex<[Int]>([])
    }

    /// Why one had none.
    private final class Refusal: Sendable {
        let problem = Mutex<APIProblem?>(nil)
    }

    @Test func theOthersWaitInTheirOrder() async throws {
        let places = ActPlaces()
        for _ in 0..<ActPlaces.bound { try await places.enter("a") }
        // Another key has places of its own.
        try await places.enter("b")
        let order = Order()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<3 {
                group.addTask {
                    try await places.enter("a")
                    order.numbers.withLock { $0.append(number) }
                }
                try await waitUntil("it waits") { places.waiting(of: "a") == number + 1 ? nil : "not yet" }
            }
            for number in 0..<3 {
                places.leave("a")
                try await waitUntil("the next one has its turn") {
                    let numbers = order.numbers.withLock { $0 }
                    return numbers == Array(0...number) ? nil : "\(numbers)"
                }
            }
            try await group.waitForAll()
        }
        // As many as at first are under way.
        for _ in 0..<ActPlaces.bound { places.leave("a") }
        for _ in 0..<ActPlaces.bound { try await places.enter("a") }
        #expect(places.waiting(of: "a") == 0)
    }

    @Test func whoWaitsTooLongIsRefused() async throws {
        let places = ActPlaces(patience: .milliseconds(200))
        for _ in 0..<ActPlaces.bound { try await places.enter("a") }
        // The second time, nobody had waited since the first.
        for _ in 0..<2 {
            let arrival = ContinuousClock.now
            #expect(try await Self.refusal(by: places) == Self.tooMany)
            #expect(arrival.duration(to: .now) >= .milliseconds(200))
            #expect(places.waiting(of: "a") == 0)
        }
        // It has not taken a place with it.
        places.leave("a")
        try await places.enter("a")
        #expect(try await Self.refusal(by: places) == Self.tooMany)
    }

    /// Why an act is refused. One that goes on waiting is left alone, so that the test fails and ends.
    private static func refusal(by places: ActPlaces) async throws -> APIProblem? {
        let refusal = Refusal()
        Task {
            do throws(APIProblem) {
                try await places.enter("a")
            } catch {
                refusal.problem.withLock { $0 = error }
            }
        }
        try await waitUntil("it is refused") { refusal.problem.withLock { $0 == nil } ? "not yet" : nil }
        return refusal.problem.withLock { $0 }
    }

    @Test func noMoreThanTheBoundWait() async throws {
        let places = ActPlaces()
        for _ in 0..<ActPlaces.bound { try await places.enter("a") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<ActPlaces.waitingBound { group.addTask { try await places.enter("a") } }
            try await waitUntil("they wait") {
                places.waiting(of: "a") == ActPlaces.waitingBound ? nil : "\(places.waiting(of: "a"))"
            }
            let arrival = ContinuousClock.now
            await #expect(throws: Self.tooMany) { try await places.enter("a") }
            #expect(arrival.duration(to: .now) < .seconds(4))
            for _ in 0..<ActPlaces.waitingBound { places.leave("a") }
            try await group.waitForAll()
        }
    }

    private static var tooMany: APIProblem {
        var problem = APIProblem(
            .rateLimited, "too many requests of the key are in progress", bound: "16 requests in progress")
        problem.retryAfter = 1
        return problem
    }
}
