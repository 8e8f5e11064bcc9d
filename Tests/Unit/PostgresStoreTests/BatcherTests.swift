import Dispatch
import Synchronization
import Testing

@testable import PostgresStore

@Suite struct BatcherTests {
    /// Blocks the first batch until it is opened, and records all batches.
    private actor Gate {
        private(set) var batches: [[Int]] = []
        private var isOpen = false
        private var held: CheckedContinuation<Void, Never>?

        func pass(_ batch: [Int]) async {
            batches.append(batch)
            if !isOpen { await withCheckedContinuation { held = $0 } }
        }

        func open() {
            isOpen = true
            held?.resume()
        }
    }

    /// Runs tasks one at a time, in the order in which they became ready.
    private final class Turns: TaskExecutor {
        private let queue = DispatchQueue(label: "turns")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    private func wait(until condition: () async -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(10)
        while await !condition() {
            try #require(ContinuousClock.now < deadline, "the condition did not come true in 10 s")
            await Task.yield()
        }
    }

    @Test func theFirstInputIsFlushedAtOnceAndLaterOnesTogether() async throws {
        let gate = Gate()
        await gate.open()
        // Only a batch that follows another one directly waits for the gathering time, so nothing waits here.
        let batcher = Batcher<Int, Int>(gathering: .seconds(3600)) { inputs async throws(PostgresError) in
            await gate.pass(inputs)
            return inputs
        }
        #expect(try await batcher.submit(0) == 0)
        #expect(try await batcher.submit(1) == 1)
        let slow = Gate()
        let gathering = Batcher<Int, Int>(gathering: .milliseconds(300)) { inputs async throws(PostgresError) in
            await slow.pass(inputs)
            return inputs
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask { try await gathering.submit(0) }
            try await wait { await slow.batches.count == 1 }
            group.addTask { try await gathering.submit(1) }
            try await wait { await gathering.waiting == 1 }
            await slow.open()
            // The second input begins a batch and waits; inputs that come now join it.
            try await wait { await gathering.waiting == 0 }
            group.addTask { try await gathering.submit(2) }
            try await group.waitForAll()
        }
        #expect(await slow.batches == [[0], [1, 2]])
    }

    @Test func gathersWhileFlushing() async throws {
        let gate = Gate()
        let batcher = Batcher<Int, Int>(limit: 4) { inputs async throws(PostgresError) in
            await gate.pass(inputs)
            return inputs.map { $0 * 10 }
        }
        let results = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            group.addTask { (0, try await batcher.submit(0)) }
            try await wait { await gate.batches.count == 1 }
            for number in 1...6 {
                group.addTask { (number, try await batcher.submit(number)) }
                try await wait { await batcher.waiting == number }
            }
            await gate.open()
            return try await group.reduce(into: [Int: Int]()) { $0[$1.0] = $1.1 }
        }
        #expect(results == [0: 0, 1: 10, 2: 20, 3: 30, 4: 40, 5: 50, 6: 60])
        #expect(await gate.batches == [[0], [1, 2, 3, 4], [5, 6]])
        #expect(try await batcher.submit(7) == 70)
    }

    /// Inputs that are submitted in one turn of the executor are all there before the first flush.
    @Test func inputsOfOneTurnAreFlushedTogether() async throws {
        let batches = Mutex<[[Int]]>([])
        let batcher = Batcher<Int, Int> { inputs async throws(PostgresError) in
            batches.withLock { $0.append(inputs) }
            return inputs
        }
        try await withTaskExecutorPreference(Turns()) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<5 { group.addTask { _ = try await batcher.submit(number) } }
                try await group.waitForAll()
            }
        }
        #expect(batches.withLock { $0.map(\.count) } == [5])
    }

    @Test func oneBadInputDoesNotFailTheOthers() async throws {
        let gate = Gate()
        let batcher = Batcher<Int, Int> { inputs async throws(PostgresError) in
            await gate.pass(inputs)
            if inputs.contains(2) { throw PostgresError(sqlState: "22001", message: "too long") }
            return inputs
        }
        let results = try await withThrowingTaskGroup(of: (Int, Int?).self) { group in
            group.addTask { (0, try? await batcher.submit(0)) }
            try await wait { await gate.batches.count == 1 }
            for number in 1...3 {
                group.addTask { (number, try? await batcher.submit(number)) }
                try await wait { await batcher.waiting == number }
            }
            await gate.open()
            return try await group.reduce(into: [Int: Int]()) { $0[$1.0] = $1.1 }
        }
        #expect(results == [0: 0, 1: 1, 3: 3])
        #expect(await gate.batches == [[0], [1, 2, 3], [1], [2], [3]])
    }

    @Test func boundOnWaiting() async throws {
        let gate = Gate()
        let batcher = Batcher<Int, Int>(waitingBound: 1) { inputs async throws(PostgresError) in
            await gate.pass(inputs)
            return inputs
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await batcher.submit(0) }
            try await wait { await gate.batches.count == 1 }
            group.addTask { _ = try await batcher.submit(1) }
            try await wait { await batcher.waiting == 1 }
            let error = await #expect(throws: PostgresError.self) { try await batcher.submit(2) }
            #expect(error?.kind == .full)
            await gate.open()
            try await group.waitForAll()
        }
    }

    @Test func aWrongNumberOfOutputsIsAnError() async {
        let batcher = Batcher<Int, Int> { _ async throws(PostgresError) in [] }
        let error = await #expect(throws: PostgresError.self) { try await batcher.submit(1) }
        #expect(error?.kind == .shape)
    }
}
