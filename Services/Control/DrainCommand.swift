internal import ArgumentParser
internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import PostgresStore
internal import RedisClient

/// `heliographctl drain`.
struct DrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain", abstract: "Asks a running process to end as at SIGTERM.",
        discussion: """
            It finds out within some seconds, and ends when its work is done: a gateway moves its clients to others, a bridge \
            waits for its calls. Who has started it decides whether it starts again. Redis is found by HELIOGRAPH_REDIS_URL \
            (default \(ControlRedis.standardURL)); the order is noted in the audit trail before, in PostgreSQL.
            """)

    @Argument(help: "The process's id, as `versions` shows it.")
    var id: String

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard DrainProcess.idBytes.contains(id.utf8.count) else {
            throw ValidationError("an id has up to \(DrainProcess.idBytes.upperBound) bytes")
        }
    }

    func run() async throws {
        try await Failure.reported {
            try await ControlRedis.withConnection(libraries: [.instances]) { connection in
                guard try await RunningInstances.isRunning(id, on: connection) else { throw unknown }
                try await Database.note(.drain, toProcess: id)
                guard try await RunningInstances.drain(id, on: connection) else { throw unknown }
            }
            output.show(Outcome(deed: "asked", subject: id, line: "\(id) has been asked to drain"))
        }
    }

    private var unknown: Failure { .refused("no process with that id is running") }
}
