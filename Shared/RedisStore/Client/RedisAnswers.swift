package import SignalingProtocol

extension Duration {
    /// The whole milliseconds of a time span, as Redis and its functions count them.
    package var wholeMilliseconds: Int64 { Int64(self / .milliseconds(1)) }
}

extension RedisArgument {
    /// A time span in whole milliseconds, as decimal text.
    package static func milliseconds(_ span: Duration) -> RedisArgument { .int64(span.wholeMilliseconds) }
}

/// How services ask Redis: a failure is told in the terms in which whoever asked the service is told of it.
extension RedisConnection {
    /// Runs a command.
    /// - Throws: `SignalingError`: what a function refused, or that Redis is not available.
    package func answer(to command: RedisCommand) async throws(SignalingError) -> RedisValue {
        do {
            return try await execute(command)
        } catch {
            throw error.signaling
        }
    }

    /// Runs commands in one pipeline. All of them are sent, whatever becomes of the others.
    /// - Throws: the first failure, as ``answer(to:)`` does.
    package func answers(to commands: [RedisCommand]) async throws(SignalingError) -> [RedisValue] {
        var values: [RedisValue] = []
        values.reserveCapacity(commands.count)
        for result in await execute(commands) {
            switch result {
            case .success(let value): values.append(value)
            case .failure(let error): throw error.signaling
            }
        }
        return values
    }

    /// Asks Redis for its time, in milliseconds since 1970.
    /// - Throws: as ``answer(to:)`` does.
    package func time() async throws(SignalingError) -> Int64 {
        let reply = try await answer(to: RedisCommand("TIME"))
        guard let parts = reply.array, parts.count == 2, let seconds = parts[0].int, let micros = parts[1].int else {
            throw .unreadableAnswer
        }
        return seconds * 1000 + micros / 1000
    }
}

extension RedisValue {
    /// The elements of a list as text, integers in decimal, anything else as empty text; no elements unless this is a list.
    package var texts: [String] {
        (array ?? []).map { element in
            if case .integer(let value) = element { String(value) } else { element.string ?? "" }
        }
    }
}

extension SignalingError {
    /// An answer of Redis does not have the shape that its command promises. Whoever asked the service can do no more about
    /// it than about a Redis that is away, and is told the same.
    package static var unreadableAnswer: SignalingError { .unavailable("redis") }
}
