internal import ArgumentParser
internal import PostgresStore
internal import Provisioning
internal import SignalingProtocol

/// A setting of which an app has one or none, as PostgreSQL has it: its trunk, webhook or before-hook. The commands
/// that show, list and remove one are the same for all.
protocol AppSetting: Sendable {
    associatedtype Output: PrintableRecord

    /// What it is called, and several of them.
    static var name: String { get }
    static var plural: String { get }
    /// What the commands that show and remove it say of themselves.
    static var shows: String { get }
    static var removes: String { get }

    static func all(in pool: PostgresPool) async throws -> [Self]
    static func find(_ app: AppID, in pool: PostgresPool) async throws -> Self?
    /// - Returns: false when the app has none.
    static func remove(_ app: AppID, in pool: PostgresPool) async throws -> Bool

    func output(withSecret: Bool) -> Output
}

extension AppSetting {
    /// The setting of an app.
    /// - Throws: ``Failure`` when it has none.
    static func existing(_ app: AppID, in pool: PostgresPool) async throws -> Self {
        guard let found = try await find(app, in: pool) else { throw missing(app) }
        return found
    }

    static func missing(_ app: AppID) -> Failure { .refused("the app \(app) has no \(name)") }
}

extension PostgresPool {
    /// Reads what is set up and changes it, in one transaction, so that nobody's change gets lost; see
    /// ``SettingStore/begin(changing:)``.
    func changing(_ tables: [String], _ body: (PostgresTransaction) async throws -> Void) async throws {
        try await transaction(SettingStore.begin(changing: tables), body)
    }
}

/// Whether secrets are printed too.
struct WithSecretOptions: ParsableArguments {
    @Flag(
        name: [.customLong("with-secret"), .customLong("show-secret"), .customLong("show-secrets")],
        help: "Print the secret too.")
    var withSecret = false
}

struct ShowSetting<Setting: AppSetting>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: "show", abstract: Setting.shows)
    }

    @Argument(help: "The app.")
    var app: AppID

    @OptionGroup var secret: WithSecretOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await Failure.reported {
            try await Database.with { pool in
                output.show(try await Setting.existing(app, in: pool).output(withSecret: secret.withSecret))
            }
        }
    }
}

struct ListSettings<Setting: AppSetting>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: "list", abstract: "Lists the \(Setting.plural) of all apps.")
    }

    @OptionGroup var secret: WithSecretOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await Failure.reported {
            try await Database.with { pool in
                let records = try await Setting.all(in: pool).map { $0.output(withSecret: secret.withSecret) }
                output.show(Listing(name: Setting.plural, records: records))
            }
        }
    }
}

struct RemoveSetting<Setting: AppSetting>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: "remove", abstract: Setting.removes)
    }

    @Argument(help: "The app.")
    var app: AppID

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await Failure.reported {
            try await Database.with { pool in
                guard try await Setting.remove(app, in: pool) else { throw Setting.missing(app) }
                output.show(
                    Outcome(deed: "removed", subject: app.rawValue, line: "removed the \(Setting.name) of \(app)"))
            }
        }
    }
}
