import Logging
import RedisStore
import ServiceKit
import Synchronization
import Testing

@testable import GatewayServer

@Suite struct DiscoveryTests {
    /// The list of gateways as a test sets it, and how often it was read.
    private final class Listed: Sendable {
        private struct State {
            var gateways: [GatewayLease]?
            var reads = 0
        }

        private let state = Mutex(State())

        /// - Parameter gateways: nil when the list cannot be read.
        func set(_ gateways: [GatewayLease]?) { state.withLock { $0.gateways = gateways } }

        var reads: Int { state.withLock { $0.reads } }

        func read() throws -> [GatewayLease] {
            let found = state.withLock { state in
                state.reads += 1
                return state.gateways
            }
            guard let found else { throw RedisError(code: .generic, message: "away") }
            return found
        }
    }

    private let listed = Listed()
    private let discovery: Discovery
    private let start = ContinuousClock.now

    init() {
        let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        discovery = Discovery(own: GatewayAddress(host: "10.0.0.1", port: 1), logger: silent) { [listed] in
            try listed.read()
        }
    }

    private func gateway(_ port: Int) -> GatewayLease { GatewayLease(host: "10.0.0.1", port: port, connections: 0) }

    /// The ports in an answer, without repetitions.
    private func ports(after time: Duration) async throws -> [Int] {
        let body = String(decoding: await discovery.answer(at: start + time).body, as: UTF8.self)
        let entries = body.matches(of: #/\["10\.0\.0\.1",(\d+)\]/#).compactMap { Int($0.output.1) }
        #expect(entries.count >= 16)
        return Set(entries).sorted()
    }

    @Test func aSampleIsReusedForAboutTwoSeconds() async throws {
        listed.set([gateway(1), gateway(2)])
        #expect(try await ports(after: .zero) == [1, 2])
        listed.set([gateway(2), gateway(3)])
        #expect(try await ports(after: .milliseconds(1499)) == [1, 2])
        #expect(listed.reads == 1)
        #expect(try await ports(after: .milliseconds(2500)) == [2, 3])
        #expect(listed.reads == 2)
    }

    @Test func theLastSampleIsServedWhileRedisIsAway() async throws {
        listed.set([gateway(1), gateway(2)])
        #expect(try await ports(after: .zero) == [1, 2])
        listed.set(nil)
        #expect(try await ports(after: .seconds(60)) == [1, 2])
        #expect(listed.reads == 2)
    }

    @Test func aGatewayNamesItselfWhenItKnowsOfNone() async throws {
        listed.set(nil)
        #expect(try await ports(after: .zero) == [1])
        listed.set([])
        #expect(try await ports(after: .seconds(60)) == [1])
        await discovery.setOwnAddress(GatewayAddress(host: "10.0.0.1", port: 7))
        #expect(try await ports(after: .seconds(61)) == [7])
    }

    @Test func anAnswerNamesSixteenOfMany() async throws {
        listed.set((1...64).map(gateway))
        #expect(try await ports(after: .zero).count == 16)
    }
}
