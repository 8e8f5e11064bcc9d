internal import Synchronization

/// The connections of a process to the same Redis, for commands that belong to the process as a whole
/// and to none of the connections.
///
/// A command goes to the connection that answered last. When that one is down, fails, or does not answer for
/// ``patience``, the next is asked too. So only commands that may be executed twice, or late, are to be sent.
package final class RedisFailover: Sendable {
    /// How long a connection may take to answer before the next is asked too.
    package static let patience = Duration.seconds(1)
    /// The largest number of connections that one command is sent to. While Redis is away all of them fail, each
    /// after the timeout of its commands.
    private static let attempts = 3

    private let connections: [RedisClient]
    /// The index of the connection that answered last.
    private let preferred = Atomic<Int>(0)

    /// Uses these connections, of which there must be one at least.
    package init(_ connections: [RedisClient]) {
        precondition(!connections.isEmpty, "a process without a connection to Redis")
        self.connections = connections
    }

    /// Uses the only connection of a process.
    package convenience init(_ connection: RedisClient) { self.init([connection]) }

    /// Whether any of the connections is up.
    package var isConnected: Bool { connections.contains(where: \.isConnected) }

    /// Whether more than half of the masters answer over one of the connections, but over none
    /// of them the master of this slot.
    package func answersWithout(slot: UInt16) async -> Bool {
        var answers = false
        for connection in connections where connection.isConnected {
            guard await connection.answersWithout(slot: slot) else { return false }
            answers = true
        }
        return answers
    }

    /// Sends commands over a connection that works; callable from any thread.
    /// - Parameter act: sends them. Called once or, if a connection does not work,
    ///   several times, possibly concurrently.
    /// - Returns: the first result.
    /// - Throws: the last error, when `act` has failed with each of the connections tried.
    package func perform<Value: Sendable, Failure: Error>(
        _ act: @escaping @Sendable (RedisClient) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let first = preferred.load(ordering: .relaxed)
        let states = connections.indices.map { offset in
            let index = (first + offset) % connections.count
            return (index: index, isUp: connections[index].isConnected)
        }
        let order = (states.filter(\.isUp) + states.filter { !$0.isUp }).prefix(Self.attempts).map(\.index)
        let answer = try await FirstAnswer<Int, Value, Failure>.ask(order, patience: Self.patience) {
            [connections] index throws(Failure) in try await act(connections[index])
        }
        preferred.store(answer.candidate, ordering: .relaxed)
        return answer.value
    }
}
