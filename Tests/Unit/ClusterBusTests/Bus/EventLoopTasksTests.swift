import ClusterBus
import NIOCore
import NIOPosix
import Testing

@Suite struct EventLoopTasksTests {
    /// An actor like those that handlers enter.
    private actor Counter {
        private(set) var count = 0

        func add() { count += 1 }
    }

    @Test func tasksStayOnTheLoop() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let counter = Counter()
        await withTaskExecutorPreference(EventLoopTasks(loop)) {
            #expect(loop.inEventLoop)
            await counter.add()
            #expect(loop.inEventLoop)
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        await counter.add()
                        return loop.inEventLoop
                    }
                }
                for await stayed in group { #expect(stayed) }
            }
            // What waits elsewhere comes back.
            await withCheckedContinuation { waiting in Task.detached { waiting.resume() } }
            #expect(loop.inEventLoop)
        }
        #expect(!loop.inEventLoop)
        #expect(await counter.count == 11)
    }
}
