internal import ArgumentParser
internal import PostgresStore

/// `heliographctl migrate`.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Brings the database's tables up to date. May run any number of times.")

    private struct Report: Encodable {
        var applied: [String]
    }

    @Option(help: "Seconds to wait for PostgreSQL to answer.")
    var wait = 0

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (0...3600).contains(wait) else { throw ValidationError("--wait must be 0...3600") }
    }

    func run() async throws {
        try await Failure.reported {
            try await Database.with(checked: false) { pool in
                let deadline = ContinuousClock.now + .seconds(wait)
                while ContinuousClock.now < deadline, await !pool.isReachable {
                    try await Task.sleep(for: .milliseconds(200))
                }
                let applied = try await Migrations(pool: pool).apply()
                if output.json {
                    try Output.json(Report(applied: applied))
                } else if applied.isEmpty {
                    print("nothing to do: the tables are up to date")
                } else {
                    for name in applied { print("applied \(name)") }
                }
            }
        }
    }
}
