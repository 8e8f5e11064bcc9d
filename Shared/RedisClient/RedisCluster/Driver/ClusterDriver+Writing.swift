internal import NIOCore

/// What is written at the end of each tick of the loop.
extension ClusterDriver {
    /// See ``RedisClient/beforeWriting(_:)``.
    func beforeWriting(_ act: @escaping () -> Void) {
        writePreparations.append(act)
        scheduleFlush()
    }

    func scheduleFlush() {
        guard !flushScheduled else { return }
        flushScheduled = true
        // Runs after everything else in this tick of the loop, so that one write per node carries all of it.
        eventLoop.execute(flushTask ?? makeFlushTask())
    }

    private func makeFlushTask() -> @Sendable () -> Void {
        let driver = NIOLoopBound(self, eventLoop: eventLoop)
        let task: @Sendable () -> Void = { driver.value.flush() }
        if !isClosed { flushTask = task }
        return task
    }

    private func flush() {
        let preparations = writePreparations
        writePreparations.removeAll(keepingCapacity: true)
        for prepare in preparations { prepare() }
        flushScheduled = false
        // Closures registered by these closures run before the next write.
        if !writePreparations.isEmpty { scheduleFlush() }
        // By index, because a write that fails may lead to others.
        var index = 0
        while index < unflushed.count {
            node(unflushed[index])?.pipeline.flush()
            index += 1
        }
        unflushed.removeAll(keepingCapacity: true)
    }
}
