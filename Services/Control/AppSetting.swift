internal import ArgumentParser
internal import PostgresStore
internal import Provisioning
internal import SignalingProtocol

/// Which setting of an app a command is about.
protocol SettingKey: Sendable {
    var app: AppID { get }
    /// Its name after a space; empty where the app has one or none, and for the one that is meant where none is named.
    var suffix: String { get }
}

extension AppID: SettingKey {
    var app: AppID { self }
    var suffix: String { "" }
}

/// How a command line says which setting it is about.
protocol SettingPlace: ParsableArguments {
    associatedtype Key: SettingKey
    var key: Key { get }
}

/// The app alone, where it has one or none.
struct AppPlace: SettingPlace {
    @Argument(help: "The app.")
    var app: AppID

    var key: AppID { app }
}

/// A setting of an app, as PostgreSQL has it: its trunk, its before-hook, one of its webhooks. The commands that show,
/// list and remove one are the same for all.
protocol AppSetting: Sendable {
    associatedtype Place: SettingPlace = AppPlace
    associatedtype Output: PrintableRecord

    /// What it is called, and several of them.
    static var name: String { get }
    static var plural: String { get }
    /// What the commands that show and remove it say of themselves.
    static var shows: String { get }
    static var removes: String { get }

    static func all(in pool: PostgresPool) async throws -> [Self]
    static func find(_ key: Place.Key, in pool: PostgresPool) async throws -> Self?
    /// - Returns: false when there is none.
    static func remove(_ key: Place.Key, in pool: PostgresPool) async throws -> Bool

    func output(withSecret: Bool) -> Output
}

extension AppSetting {
    /// The setting of an app.
    /// - Throws: ``Failure`` when there is none.
    static func existing(_ key: Place.Key, in pool: PostgresPool) async throws -> Self {
        guard let found = try await find(key, in: pool) else { throw missing(key) }
        return found
    }

    static func missing(_ key: Place.Key) -> Failure { .refused("the app \(key.app) has no \(name)\(key.suffix)") }
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

    @OptionGroup var place: Setting.Place

    @OptionGroup var secret: WithSecretOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await Failure.reported {
            try await Database.with { pool in
                output.show(try await Setting.existing(place.key, in: pool).output(withSecret: secret.withSecret))
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

    @OptionGroup var place: Setting.Place

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await Failure.reported {
            let key = place.key
            try await Database.with { pool in
                guard try await Setting.remove(key, in: pool) else { throw Setting.missing(key) }
                output.show(
                    Outcome(
                        deed: "removed", subject: key.app.rawValue,
                        line: "removed the \(Setting.name)\(key.suffix) of \(key.app)"))
            }
        }
    }
}
