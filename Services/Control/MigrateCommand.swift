internal import ArgumentParser
internal import ClusterState
internal import PostgresStore

/// `heliographctl migrate`.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Brings the database's tables up to date. May run any number of times.",
        discussion: """
            Without --contract it only adds what this release needs; processes of the release before go on working. With \
            --contract, once they have ended, it also removes what only they used.
            """)

    private struct Report: Encodable {
        var applied: [String]
        var waiting: [String]
    }

    @Option(help: "Seconds to wait for PostgreSQL to answer.")
    var wait = 0

    @Flag(help: "Also apply what processes of the release before do not survive.")
    var contract = false

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
                let migrations = Migrations(pool: pool, level: ClusterLevel.current)
                let applied = try await migrations.apply(contract ? .all : .expand)
                try report(Report(applied: applied, waiting: try await migrations.waiting().names))
            }
        }
    }

    private func report(_ report: Report) throws {
        if output.json { return try Output.json(report) }
        if report.applied.isEmpty { print("nothing to do: the tables are up to date") }
        for name in report.applied { print("applied \(name)") }
        for name in report.waiting { print("\(name) waits for `heliographctl migrate --contract`") }
    }
}
