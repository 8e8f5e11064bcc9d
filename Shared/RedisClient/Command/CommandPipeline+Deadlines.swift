internal import DequeModule
internal import NIOCore

// One timer serves all deadlines, because replies arrive in order and nearly all commands have the same time limit.
extension CommandPipeline {
    /// The shortest time between two checks of the deadlines.
    private static let deadlineStep = Duration.milliseconds(20)

    func armTimer(_ deadline: NIODeadline) {
        if let timer {
            guard deadline < timer.deadline else { return }
            timer.task.cancel()
        }
        let task = eventLoop.assumeIsolated().scheduleTask(
            deadline: max(deadline, .now() + TimeAmount(Self.deadlineStep))
        ) {
            self.checkDeadlines()
        }
        timer = (deadline, task)
    }

    private func checkDeadlines() {
        timer = nil
        let now = NIODeadline.now()
        if waiting.contains(where: { $0.deadline <= now }) {
            let late = waiting.filter { $0.deadline <= now }
            waiting.removeAll { $0.deadline <= now }
            for pending in late { complete(pending, .failure(.timeout)) }
        }
        giveUpRepeated(now)
        if let replicaWait { give(replicaWait.expired(now)) }
        if let first = written.first, first.deadline <= now {
            // Replies arrive in order: a server that does not answer the first command
            // answers none behind it. Reconnect.
            if !first.isRepeated(now) {
                written.removeFirst()
                unflushed = min(unflushed, written.count)
                // Completed before the commands behind it, which fail when the link is dropped.
                complete(first, .failure(.timeout))
            }
            link.drop(.timeout)
        }
        let ends = written.lazy.filter { !$0.isGivenUp }.compactMap(\.repeatedUntil)
        let next = [
            waiting.lazy.map(\.deadline).min(), written.first?.deadline, ends.min(), replicaWait?.nextDeadline,
        ].compactMap(\.self).min()
        if let next { armTimer(next) }
    }

    /// Completes the repeatable commands whose time limit has passed but whose reply may
    /// still arrive on this connection.
    private func giveUpRepeated(_ now: NIODeadline) {
        var late: [Pending] = []
        for index in written.indices {
            guard let until = written[index].repeatedUntil, until <= now, !written[index].isGivenUp else { continue }
            late.append(written[index])
            written[index].isGivenUp = true
        }
        // Only now, because completions may send commands or close the connection.
        for pending in late { complete(pending, .failure(.timeout)) }
    }
}
