internal import ArgumentParser

/// The administrators' command-line tool, `heliographctl`.
@main
struct Heliographctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "heliographctl",
        abstract: "Administers a Heliograph cluster.",
        discussion: """
            PostgreSQL is found by HELIOGRAPH_POSTGRES_URL (default \(Database.standardURL)), Redis by HELIOGRAPH_REDIS_URL \
            (default \(ControlRedis.standardURL); also redis+sentinel:// and redis+cluster://).

            Exit codes: 0 done; 1 refused (no such app, the id is taken, wrong tables), or something is wrong (cluster, doctor); \
            64 wrong arguments; 69 the store does not answer; 78 the URL cannot be used, or Redis is not run as it says.
            """,
        subcommands: [
            ApplyCommand.self, ExportCommand.self,
            MigrateCommand.self, AppCommand.self, TokenCommand.self, TrunkCommand.self, NumberCommand.self,
            UserCommand.self, AddressCommand.self, ChannelCommand.self, CallCommand.self, SendCommand.self,
            TailCommand.self, TraceCommand.self,
            TopCommand.self, BenchCommand.self, KeyCommand.self, WebhookCommand.self, HookCommand.self,
            HistoryCommand.self, RetentionCommand.self, AuditCommand.self, WaitingCommand.self,
            BackupCommand.self, RestoreCommand.self, VersionsCommand.self, DrainCommand.self, ClusterCommand.self,
            DoctorCommand.self,
        ])
}

/// Options that all commands have.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON object instead of text.")
    var json = false
}
