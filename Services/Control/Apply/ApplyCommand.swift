internal import ArgumentParser
internal import PostgresStore
internal import Provisioning
internal import SignalingWire

/// `heliographctl apply`.
struct ApplyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply", abstract: "Makes what a file says of apps, limits, webhooks, hooks, trunks and numbers.",
        discussion: """
            What the file does not name stays. The whole file is checked first; then all changes are made at once, or none. \
            `heliographctl export` writes such a file.
            """)

    /// The exit code of `--detailed-exitcode` for changes.
    private static let changed: Int32 = 2

    @Argument(help: "The file, as JSON; - for standard input.")
    var file: String

    @Flag(help: "Print what would change, and change nothing.")
    var dryRun = false

    @Flag(help: "Exit with 2 instead of 0 when something changes, or would with --dry-run.")
    var detailedExitcode = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        var isChanged = false
        try await Failure.reported {
            do {
                let desired = try DesiredState(
                    try SettingFile.read(file, atMost: DesiredState.longestFile),
                    secrets: .references(SettingFile.secret))
                try await Database.with { pool in
                    let changes = try await SettingStore(pool: pool).apply(desired, ApplyTerms(isDryRun: dryRun))
                    isChanged = !changes.isEmpty
                    output.show(ChangesOutput(changes: changes, isDryRun: dryRun))
                }
            } catch let problem as SettingProblem {
                throw Failure.refused("\(file): \(problem.text); nothing was changed")
            } catch is ApplyFailure {
                // Neither time nor answer is bounded here.
                throw Failure.refused("somebody else has changed what is set up; nothing was changed: try again")
            }
        }
        if isChanged && detailedExitcode { throw ExitCode(Self.changed) }
    }
}

/// The changes as `apply` prints them.
struct ChangesOutput: Printable {
    let changes: [SettingChange]
    let isDryRun: Bool

    var members: [JSONMember] {
        [
            JSONMember("changes", changes.json),
            JSONMember("dryRun", isDryRun),
        ]
    }

    var lines: [String] { changes.isEmpty ? ["nothing to change"] : changes.map(\.line) }
}
