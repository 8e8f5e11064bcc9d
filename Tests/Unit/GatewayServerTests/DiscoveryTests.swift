import ClusterBus
import Logging
import NIOHTTP1
import RedisClient
import ServiceKit
import SignalingProtocol
import Synchronization
import TestKit
import Testing

@testable import GatewayServer

@Suite struct DiscoveryTests {
    /// The list of gateways as a test sets it, and how often it was read.
    private final class Listed: Sendable {
        private struct State {
            var gateways: [GatewayLease]?
            var reads = 0
            var isHanging = false
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private let state = Mutex(State())

        /// Makes readings wait, as for a master that is away, or ends that.
        func hang(_ isHanging: Bool) {
            let waiting = state.withLock { state in
                state.isHanging = isHanging
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }

        /// - Parameter gateways: nil when the list cannot be read.
        func set(_ gateways: [GatewayLease]?) { state.withLock { $0.gateways = gateways } }

        var reads: Int { state.withLock { $0.reads } }

        func read() async throws -> [GatewayLease] {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    state.reads += 1
                    if state.isHanging { state.waiting.append(continuation) }
                    return state.isHanging
                }
                if !mustWait { continuation.resume() }
            }
            let found = state.withLock { $0.gateways }
            guard let found else { throw RedisError(code: .generic, message: "away") }
            return found
        }
    }

    /// The leases of a cluster whose sample is not all, and what was read of them.
    private final class Leases: Sendable {
        private struct State {
            var ids: [GatewayID] = []
            var leases: [GatewayID: GatewayLease] = [:]
            var lists = 0
            var read: [GatewayID] = []
        }

        private let state = Mutex(State())

        func set(_ leases: [GatewayID: GatewayLease]) {
            state.withLock { state in
                state.leases = leases
                state.ids = leases.keys.sorted()
            }
        }

        func remove(_ id: GatewayID) { state.withLock { $0.leases[id] = nil } }

        var lists: Int { state.withLock { $0.lists } }
        var read: [GatewayID] { state.withLock { $0.read } }

        func list() -> [GatewayID] {
            state.withLock { state in
                state.lists += 1
                return state.ids
            }
        }

        func leases(of ids: [GatewayID]) -> [GatewayID: GatewayLease] {
            state.withLock { state in
                state.read += ids
                return state.leases.filter { ids.contains($0.key) }
            }
        }
    }

    private let listed = Listed()
    private let leases = Leases()
    private let discovery: Discovery
    private let start = ContinuousClock.now

    init() {
        let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        discovery = Discovery(
            own: GatewayAddress(host: "10.0.0.1", port: 1), logger: silent,
            directory: GatewayDirectory(
                sample: { [listed] in
                    try await listed.read().map { LiveGateway(id: GatewayID("g\($0.port)"), lease: $0) }
                },
                list: { [leases] in leases.list() }, leases: { [leases] in leases.leases(of: $0) }))
    }

    private func gateway(_ port: Int) -> GatewayLease {
        GatewayLease(host: "10.0.0.1", port: port, connections: 100_000)
    }

    /// The ports in an answer, without repetitions.
    private func ports(after time: Duration) async throws -> [Int] {
        Set(try await entries(after: time)).sorted()
    }

    /// The ports in an answer.
    private func entries(after time: Duration, _ query: String = "") async throws -> [Int] {
        let answer = await discovery.answer(to: "/getaddr\(query)", at: start + time)
        let body = String(decoding: answer.body, as: UTF8.self)
        let entries = body.matches(of: #/\["10\.0\.0\.1",(\d+)\]/#).compactMap { Int($0.output.1) }
        #expect(entries.count >= 16)
        return entries
    }

    /// The ports that come first in ten answers.
    private func first(_ count: Int, after time: Duration, _ query: String) async throws -> Set<Int> {
        var first: Set<Int> = []
        for _ in 0..<10 { first.formUnion(try await entries(after: time, query).prefix(count)) }
        return first
    }

    @Test func aSampleIsReusedForAboutTwoSeconds() async throws {
        listed.set([gateway(1), gateway(2)])
        #expect(try await ports(after: .zero) == [1, 2])
        listed.set([gateway(2), gateway(3)])
        #expect(try await ports(after: .milliseconds(1499)) == [1, 2])
        #expect(listed.reads == 1)
        #expect(try await ports(after: .milliseconds(2501)) == [1, 2], "the new sample is read meanwhile")
        try await waitUntil("the new sample") {
            let ports = try await ports(after: .milliseconds(2502))
            return ports == [2, 3] ? nil : "\(ports)"
        }
        #expect(listed.reads == 2)
        listed.set([gateway(4)])
        #expect(try await ports(after: .seconds(60)) == [4], "what is that old is not served")
    }

    @Test func theLastSampleIsServedWhileRedisIsAway() async throws {
        listed.set([gateway(1), gateway(2)])
        #expect(try await ports(after: .zero) == [1, 2])
        listed.set(nil)
        #expect(try await ports(after: .seconds(60)) == [1, 2])
        #expect(listed.reads == 2)
    }

    /// A master that is away answers after seconds, if ever.
    @Test(.timeLimit(.minutes(1))) func noAnswerWaitsForARedisThatHangs() async throws {
        listed.set([gateway(1), gateway(2)])
        #expect(try await ports(after: .zero) == [1, 2])
        listed.hang(true)
        #expect(try await ports(after: .seconds(3)) == [1, 2], "while the sample is young")
        #expect(try await ports(after: .seconds(60)) == [1, 2], "after a short wait")
        let asked = ContinuousClock.now
        for second in 61..<91 { #expect(try await ports(after: .seconds(second)) == [1, 2]) }
        #expect(ContinuousClock.now - asked < .seconds(8), "only the first of them waits")
        #expect(listed.reads == 2, "one reading at a time")
        listed.set([gateway(3)])
        listed.hang(false)
        try await waitUntil("a new sample") {
            let ports = try await ports(after: .seconds(100))
            return ports == [3] ? nil : "\(ports)"
        }
    }

    @Test(.timeLimit(.minutes(1))) func theFirstAnswerDoesNotWaitForeverEither() async throws {
        listed.set([gateway(2)])
        listed.hang(true)
        #expect(try await ports(after: .zero) == [1], "itself")
        listed.hang(false)
    }

    @Test func aGatewayNamesItselfWhenItKnowsOfNone() async throws {
        listed.set(nil)
        #expect(try await ports(after: .zero) == [1])
        listed.set([])
        #expect(try await ports(after: .seconds(60)) == [1])
        await discovery.setOwnAddress(GatewayAddress(host: "10.0.0.1", port: 7))
        #expect(try await ports(after: .seconds(61)) == [7])
    }

    @Test func aChannelsGatewaysComeFirst() async throws {
        listed.set((1...20).map(gateway))
        let query = "?vid=app&channel=all"
        let best = try await first(2, after: .zero, query)
        #expect(best.count == 2)
        #expect(try await first(2, after: .seconds(60), query) == best)
        let entries = try await entries(after: .zero, query)
        #expect(entries.count == 16 && Set(entries).count == 16, "others fill the list up")
        #expect(try await first(2, after: .zero, "?vid=app&channel=other") != best)
        #expect(try await first(2, after: .zero, "?app=app") != best)
        #expect(try await first(2, after: .zero, "?vid=app").count > 2)
        #expect(leases.read.isEmpty && leases.lists == 0, "the sample is all there is")
        // One of them ends.
        let gone = try #require(best.first)
        listed.set((1...20).filter { $0 != gone }.map(gateway))
        let next = try await first(2, after: .seconds(120), query)
        #expect(next.count == 2 && next.isSuperset(of: best.subtracting([gone])))
    }

    @Test func ofManyGatewaysTheChannelsLeasesAreRead() async throws {
        listed.set((1...64).map(gateway))
        let all = (1...500).map { GatewayID("g\($0)") }
        leases.set(Dictionary(uniqueKeysWithValues: (1...500).map { (GatewayID("g\($0)"), gateway($0)) }))
        let query = "?vid=app&channel=all"
        let best = try await first(2, after: .zero, query)
        #expect(best.count == 2)
        #expect(leases.lists == 1 && Set(leases.read).isSubset(of: all) && leases.read.count == 8)
        let gone = try #require(best.first)
        leases.remove(GatewayID("g\(gone)"))
        let next = try await first(2, after: .milliseconds(2100), query)
        #expect(next.count == 2 && next.isSuperset(of: best.subtracting([gone])))
        #expect(leases.lists == 1 && leases.read.count == 16)
        _ = try await entries(after: .seconds(13), "?vid=app")
        #expect(leases.lists == 1, "who does not ask for a channel costs nothing")
        _ = try await entries(after: .seconds(13), query)
        #expect(leases.lists == 2)
    }

    @Test func aQueryThatCannotBeUsedIsRefused() async throws {
        let answer = await discovery.answer(to: "/getaddr?channel=x", at: start)
        #expect(answer.status == .badRequest)
        #expect(String(decoding: answer.body, as: UTF8.self) == #"{"error":"channel needs vid, the app's id"}"#)
        #expect(answer.headers["Access-Control-Allow-Origin"] == ["*"])
        #expect(listed.reads == 0)
    }

    @Test func anAnswerNamesSixteenOfMany() async throws {
        listed.set((1...64).map(gateway))
        #expect(try await ports(after: .zero).count == 16)
    }
}
