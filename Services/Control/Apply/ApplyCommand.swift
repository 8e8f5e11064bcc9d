internal import ArgumentParser
internal import ControlApply
internal import PostgresStore
internal import SignalingProtocol
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
                    try SettingFile.read(file, atMost: DesiredState.longestFile), secrets: SettingFile.secret)
                try await Database.with { pool in
                    let changes = try await pool.apply(desired, dryRun: dryRun)
                    isChanged = !changes.isEmpty
                    output.show(ChangesOutput(changes: changes, isDryRun: dryRun))
                }
            } catch let problem as SettingProblem {
                throw Failure.refused("\(file): \(problem.text); nothing was changed")
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
            JSONMember("changes", .array(changes.map { .object($0.members) })),
            JSONMember("dryRun", isDryRun),
        ]
    }

    var lines: [String] { changes.isEmpty ? ["nothing to change"] : changes.map(\.line) }
}

extension PostgresPool {
    /// In milliseconds; below ``PostgresConfiguration/queryTimeout``, so that the error says what was waited for.
    private static let longestLockWait = 4000

    /// Reads and changes in one transaction. Others who set up apps wait meanwhile, so that nothing is overwritten.
    fileprivate func apply(_ desired: DesiredState, dryRun: Bool) async throws -> [SettingChange] {
        let begin =
            dryRun
            ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            : """
            BEGIN; SET LOCAL lock_timeout = '\(Self.longestLockWait)ms';
            LOCK TABLE apps, before_hooks, sip_trunks, sip_numbers IN SHARE ROW EXCLUSIVE MODE
            """
        return try await transaction(begin) { transaction in
            // The table of webhooks is written all the time by the service, which waits for single rows only.
            if !dryRun { try await WebhookStore(pool: transaction).lock(desired.webhookApps) }
            let plan = try Plan(desired, over: try await ActualState(on: transaction)) { SecureRandom.hex(bytes: $0) }
            guard !dryRun else { return plan.changes }
            for act in plan.acts { try await act.perform(on: transaction) }
            return plan.changes
        }
    }
}

extension DesiredState {
    /// The apps whose webhooks the file names.
    fileprivate var webhookApps: [AppID] { apps.filter { $0.webhook != nil }.map(\.id) }
}
