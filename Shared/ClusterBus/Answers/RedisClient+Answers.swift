internal import NIOCore
package import RedisClient
package import SignalingProtocol

/// Commands whose failures are `SignalingError`, ready to be returned to the service's requester.
extension RedisClient {
    /// Runs a command.
    /// - Throws: `SignalingError`: a function's refusal, or that Redis is unavailable.
    package func answer(to command: RedisCommand) async throws(SignalingError) -> RedisValue {
        do {
            return try await execute(command)
        } catch {
            throw error.signaling
        }
    }

    /// Runs commands in one pipeline. All of them are sent, even when some fail.
    /// - Throws: the first failure, as ``answer(to:)`` does.
    package func answers(to commands: [RedisCommand]) async throws(SignalingError) -> [RedisValue] {
        try Self.values(await execute(commands))
    }

    /// Runs commands, and others that must not take effect before them: on one server in one pipeline,
    /// across servers one after the other.
    /// - Throws: the first failure, as ``answer(to:)`` does.
    package func answers(
        to first: [RedisCommand], then later: [RedisCommand]
    ) async throws(SignalingError) -> [RedisValue] {
        try Self.values(await execute(first, then: later))
    }

    /// The answers to commands, and to questions that were asked after them.
    package struct Asked: Sendable {
        /// The commands' answers, in order.
        package let answers: [RedisValue]
        /// The questions' answers, in order; nil where none came in time.
        package let found: [RedisValue?]
    }

    /// How long the answer to a question is waited for: longer than one that works takes.
    private static var questionTime: Duration { .milliseconds(100) }

    /// Runs commands, and then asks questions for whose answers nobody should have to wait: they may be about keys of a
    /// server that is away while the commands' own works.
    /// - Parameter questions: commands that change nothing.
    /// - Throws: the first failure of a command, as ``answer(to:)`` does.
    package func answers(
        to commands: [RedisCommand], thenAsking questions: [RedisCommand]
    ) async throws(SignalingError) -> Asked {
        let results = await execute(commands, then: questions, within: Self.questionTime)
        return Asked(
            answers: try Self.values(Array(results.prefix(commands.count))),
            found: results.dropFirst(commands.count).map { try? $0.get() })
    }

    /// Asks questions without waiting for servers that are away.
    /// - Parameters:
    ///   - questions: commands that change nothing.
    ///   - limit: how long the answers of other servers are waited for; default 2 s.
    /// - Returns: the answers, in order; nil where none came in time.
    package func answersInTime(
        to questions: [RedisCommand], within limit: Duration = .seconds(2)
    ) async -> [RedisValue?] {
        await execute([], then: questions, within: limit).map { try? $0.get() }
    }

    /// Runs commands, and another one when all of them have succeeded. Waits for that as long as for the
    /// answer to a question, and not at all when a command is about keys of a server that is away: they
    /// go on then without the caller.
    /// - Parameters:
    ///   - needless: removes what would have repeated the work; sent when all has succeeded. Nobody waits for it, or
    ///     hears when it fails.
    ///   - failed: called with the first failure, if there is one, possibly after this has returned; on the loop.
    /// - Returns: whether all have succeeded within the wait.
    package func begin(
        _ commands: [RedisCommand], thenIfDone last: RedisCommand, removing needless: RedisCommand,
        failed: @escaping @Sendable (SignalingError) -> Void
    ) async -> Bool {
        await withCheckedContinuation { continuation in
            onLoop {
                var waiting: CheckedContinuation<Bool, Never>? = continuation
                let end = { (isDone: Bool) in
                    waiting?.resume(returning: isDone)
                    waiting = nil
                }
                let giveUp = { end(false) }
                let timer = self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(Self.questionTime), giveUp)
                if !commands.allSatisfy({ self.isReachable($0) }) { giveUp() }
                let done = { (failure: RedisError?) in
                    if let failure { failed(failure.signaling) }
                    timer.cancel()
                    end(failure == nil)
                }
                self.send(commands) { results in
                    for case .failure(let error) in results { return done(error) }
                    self.send(last) { result in
                        if case .failure(let error) = result { return done(error) }
                        self.send(needless) { _ in }
                        done(nil)
                    }
                }
            }
        }
    }

    private static func values(
        _ results: [Result<RedisValue, RedisError>]
    ) throws(SignalingError) -> [RedisValue] {
        var values: [RedisValue] = []
        values.reserveCapacity(results.count)
        for result in results {
            switch result {
            case .success(let value): values.append(value)
            case .failure(let error): throw error.signaling
            }
        }
        return values
    }

    /// Asks Redis for its time.
    /// - Parameter slot: whose master is asked in a cluster; default 0, where it does not matter which.
    /// - Throws: as ``answer(to:)`` does.
    package func time(ofSlot slot: UInt16 = 0) async throws(SignalingError) -> RedisTime {
        guard let time = try await answer(to: RedisCommand("TIME").inSlot(slot)).time else { throw .unreadableAnswer }
        return time
    }
}

extension SignalingError {
    /// The error for a reply that does not have the shape expected of its command. The requester can do no more about
    /// it than about a Redis that is down, so it gets the same error.
    package static var unreadableAnswer: SignalingError { .unavailable("redis") }
}
