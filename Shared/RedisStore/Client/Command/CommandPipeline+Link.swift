internal import DequeModule
internal import NIOCore
internal import Synchronization

extension CommandPipeline: RedisLinkOwner {
    func makeBuilder() -> ReplyBuilder { ReplyBuilder() }

    func linkReadEnded() {}

    func linkHeard(time: RedisValue, askedAt: ContinuousClock.Instant) { clock?.set(time, askedAt: askedAt) }

    func linkUp() {
        status.connections.add(1, ordering: .acquiringAndReleasing)
        status.isUp.store(true, ordering: .releasing)
        let deadline = NIODeadline.now() + commandTimeout
        while var pending = waiting.popFirst() {
            if pending.repeatedUntil != nil { pending.deadline = deadline }
            write(pending)
        }
        for callback in connectedCallbacks { callback() }
        upkeep.tick(self)
    }

    func linkDown(_ error: RedisError) {
        status.isUp.store(false, ordering: .releasing)
        outgoing.clear()
        let now = NIODeadline.now()
        var lost: [Pending] = []
        var kept: [Pending] = []
        for (index, var pending) in written.enumerated() {
            // Commands that were not written, or may be sent again, are kept for the next connection.
            let isUnwritten = index >= written.count - unflushed
            guard isUnwritten || pending.isRepeated(now) else {
                lost.append(pending)
                continue
            }
            if let until = pending.repeatedUntil { pending.deadline = until }
            kept.append(pending)
        }
        unflushed = 0
        waiting.prepend(contentsOf: kept)
        written = []
        for pending in lost { complete(pending, .failure(.closed)) }
        if let next = waiting.lazy.map(\.deadline).min() { armTimer(next) }
    }

    func linkReceived(_ reply: RedisValue) {
        guard let pending = written.popFirst() else {
            return link.drop(RedisError(code: .malformed, message: "received a reply without a command"))
        }
        guard case .error(let error) = reply else { return complete(pending, .success(reply)) }
        let isCall = pending.command.isFunctionCall && !pending.isGivenUp
        if error.isFunctionMissing, isCall, !pending.isRetry, !libraries.isEmpty {
            reloadLibraries(for: pending)
        } else if error.code == .outOfMemory, pending.command.isVital, !pending.isGivenUp {
            bytesPending -= pending.command.byteEstimate
            send(pending.command.inFullRedis, repeatedUntil: pending.repeatedUntil, pending.completion)
        } else {
            complete(pending, .failure(error))
        }
    }
}
