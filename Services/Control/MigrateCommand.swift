internal import ArgumentParser
internal import ClusterState
internal import PostgresStore
internal import SignalingWire

/// `heliographctl migrate`.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Brings the database's tables up to date. May run any number of times.",
        discussion: """
            Without --contract it only adds what this release needs; processes of the release before go on working. With \
            --contract, once they have ended, it also removes what only they used.
            """)

    private struct Report: Printable {
        let applied: [String]
        let waiting: [String]
        /// What is to be done by a superuser, if anything.
        let advice: [String]

        var members: [JSONMember] {
            [("applied", applied), ("waiting", waiting), ("advice", advice)].map { name, migrations in
                JSONMember(name, .array(migrations.map { .string($0) }))
            }
        }

        var lines: [String] {
            (applied.isEmpty ? ["nothing to do: the tables are up to date"] : applied.map { "applied \($0)" })
                + waiting.map { "\($0) waits for `heliographctl migrate --contract`" } + advice
        }
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
                let advice = try await migrations.readerAdvice()
                output.show(
                    Report(
                        applied: applied, waiting: try await migrations.waiting().names,
                        advice: advice.map { [$0] } ?? []))
            }
        }
    }
}
