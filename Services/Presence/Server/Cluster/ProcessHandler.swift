internal import BusProtocol
internal import ClusterBus
internal import ClusterService
internal import PostgresStore
internal import RedisClient
internal import SignalingProtocol

/// Asks processes to drain, for the server API.
struct ProcessHandler: Sendable {
    let redis: RedisClient
    let audit: AuditStore

    /// It is noted before it is done: nothing happens of which the audit trail does not know.
    func drain(_ command: DrainProcess, _ context: CommandContext) async throws(SignalingError) -> Done {
        guard try await RunningInstances.isRunning(command.process, on: redis) else { throw Self.unknown }
        try await answerOfPostgres { () throws(PostgresError) in
            try await audit.note(.drain, toProcess: command.process, by: AuditCause(context))
        }
        guard try await RunningInstances.drain(command.process, on: redis) else { throw Self.unknown }
        return Done()
    }

    private static var unknown: SignalingError {
        SignalingError(.failed, .unknownProcess, "no process with that id is running")
    }
}
