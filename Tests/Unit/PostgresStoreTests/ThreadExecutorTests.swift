import Glibc
import Testing

@testable import PostgresStore

@Suite struct ThreadExecutorTests {
    private actor Worker {
        private let executor = ThreadExecutor()
        private var count = 0

        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        deinit { executor.stop() }

        func thread() -> UInt { UInt(pthread_self()) }

        func add() { count += 1 }

        func total() -> Int { count }
    }

    @Test func jobsRunOnOneThreadOfTheirOwn() async {
        let first = Worker()
        let second = Worker()
        let thread = await first.thread()
        #expect(await first.thread() == thread)
        #expect(await second.thread() != thread)
    }

    @Test func concurrentJobsRunOneByOne() async {
        let worker = Worker()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<1000 { group.addTask { await worker.add() } }
        }
        #expect(await worker.total() == 1000)
    }
}
