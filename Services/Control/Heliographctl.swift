internal import ArgumentParser

/// The administrators' command-line tool, `heliographctl`.
@main
struct Heliographctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "heliographctl",
        abstract: "Administers a Heliograph cluster.",
        discussion: """
            PostgreSQL is found by HELIOGRAPH_POSTGRES_URL (default \(Database.standardURL)).

            Exit codes: 0 done; 1 refused (no such app, the id is taken, wrong tables); 64 wrong arguments; \
            69 PostgreSQL does not answer; 78 the URL cannot be used.
            """,
        subcommands: [
            MigrateCommand.self, AppCommand.self, TokenCommand.self, TrunkCommand.self, NumberCommand.self,
            UserCommand.self, VersionsCommand.self,
        ])
}

/// Options that all commands have.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON object instead of text.")
    var json = false
}
