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
}
