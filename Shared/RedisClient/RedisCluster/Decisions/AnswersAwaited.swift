/// The commands that must be answered before others may be sent, where one pipeline does not keep that order (see
/// ``ClusterStateMachine/keepsOrder(of:)``).
struct AnswersAwaited: Sendable, Equatable {
    enum Decision: Sendable, Equatable {
        /// Answers are missing.
        case wait
        /// Send the later commands.
        case send
        /// Fail the later commands, unsent: it is not known whether an earlier one took effect.
        case fail(RedisError)
    }

    private var missing: Int
    private var failure: RedisError?

    /// - Parameter count: the number of commands to be answered, at least 1.
    init(count: Int) { missing = count }

    /// An answer arrived. As in a pipeline, an error reply of the server does not keep the
    /// later commands from being sent.
    mutating func answered(_ result: Result<RedisValue, RedisError>) -> Decision {
        if case .failure(let error) = result, error.isLocal, failure == nil { failure = error }
        missing -= 1
        guard missing == 0 else { return .wait }
        return failure.map { .fail($0) } ?? .send
    }
}

extension RedisError {
    /// Whether this library has detected the failure, as opposed to a reply of the server.
    package var isLocal: Bool {
        code == .closed || code == .timeout || code == .unreplicated || code == .full || code == .malformed
    }
}
