internal import DequeModule
internal import NIOCore
internal import Synchronization

extension CommandPipeline: RedisLinkOwner {
    func makeBuilder() -> ReplyBuilder { ReplyBuilder() }

    func linkReadEnded() {
        hasHeard = true
        // Here, so that one question covers all answers of a read.
        replicaWait?.ask()
        if let node, silentChecks >= 4 {
            silentChecks = 0
            node.heard()
        }
    }

    func linkHeard(time: RedisValue, askedAt: ContinuousClock.Instant) { clock?.set(time, askedAt: askedAt) }

    func linkUp() {
        status.connections.add(1, ordering: .acquiringAndReleasing)
        status.isUp.store(true, ordering: .releasing)
        upSince = .now()
        let deadline = NIODeadline.now() + commandTimeout
        while var pending = waiting.popFirst() {
            if pending.repeatedUntil != nil { pending.deadline = deadline }
            write(pending)
        }
        for callback in connectedCallbacks { callback() }
        node?.up()
        lookAfterLibraries()
    }

    func linkDown(_ error: RedisError) {
        status.isUp.store(false, ordering: .releasing)
        upSince = nil
        outgoing.clear()
        let now = NIODeadline.now()
        var lost: [(pending: Pending, error: RedisError)] = []
        var kept: [Pending] = []
        // Answered before all that is in `written`, so these come first.
        for var pending in replicaWait?.takeAll() ?? [] {
            guard node == nil, pending.isRepeated(now), let until = pending.repeatedUntil else {
                lost.append((pending, .closed))
                continue
            }
            pending.deadline = until
            kept.append(pending)
        }
        for (index, var pending) in written.enumerated() {
            // Commands that were not written, or may be sent again, are kept for the next connection.
            let isUnwritten = index >= written.count - unflushed
            guard node == nil, isUnwritten || pending.isRepeated(now) else {
                lost.append((pending, isUnwritten ? .unsent : .closed))
                continue
            }
            if let until = pending.repeatedUntil { pending.deadline = until }
            kept.append(pending)
        }
        unflushed = 0
        waiting.prepend(contentsOf: kept)
        written = []
        node?.down()
        for (pending, error) in lost { complete(pending, .failure(error)) }
        if let next = waiting.lazy.map(\.deadline).min() { armTimer(next) }
    }

    func linkReceived(_ reply: RedisValue) {
        guard let pending = written.popFirst() else {
            return link.drop(RedisError(code: .malformed, message: "received a reply without a command"))
        }
        guard case .error(let error) = reply else {
            if let replicaWait, pending.command.isDurable, !pending.isGivenUp {
                return armTimer(replicaWait.keep(pending, reply))
            }
            return complete(pending, .success(reply))
        }
        let isCall = pending.command.isFunctionCall && !pending.isGivenUp
        if error.isFunctionMissing, isCall, !pending.isRetry, !libraries.isEmpty {
            reloadLibraries(for: pending)
        } else if error.code == .outOfMemory, pending.command.isVital, !pending.isGivenUp {
            bytesPending -= pending.command.byteEstimate
            let call = pending.command.inFullRedis
            send(
                node?.isOneOfMany == true ? call.fenced : call, repeatedUntil: pending.repeatedUntil, pending.completion
            )
        } else {
            complete(pending, .failure(error))
        }
    }
}

/// What the pipeline of one node tells its ``RedisClient``, always on the event loop.
final class NodeEvents {
    /// Sends a command to the master of its slot, when there are several; nil for the only one.
    let sendBySlot: LibraryUpkeep.Send?
    /// Commands can be sent.
    let up: () -> Void
    /// The connection broke; told before the commands fail.
    let down: () -> Void
    /// Something came after a second of silence; see ``CommandPipeline/checkSilence()``.
    let heard: () -> Void
    /// Asks for a call of ``CommandPipeline/flush()`` at the end of this tick of the loop.
    let wantsFlush: () -> Void

    init(
        sendBySlot: LibraryUpkeep.Send?, up: @escaping () -> Void, down: @escaping () -> Void,
        heard: @escaping () -> Void,
        wantsFlush: @escaping () -> Void
    ) {
        self.sendBySlot = sendBySlot
        self.up = up
        self.down = down
        self.heard = heard
        self.wantsFlush = wantsFlush
    }

    /// Whether there are other masters, so that slots may move: function calls are fenced.
    var isOneOfMany: Bool { sendBySlot != nil }
}
