internal import ArgumentParser
internal import BusProtocol
internal import PostgresStore
internal import Provisioning
internal import SignalingProtocol

/// `heliographctl app ...`.
struct AppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app", abstract: "Creates, lists, changes and removes apps.",
        subcommands: [Create.self, List.self, UsageCommand.self, Limit.self, Rotate.self, Remove.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Creates an app and prints its certificate.")

        @Option(help: "1 to 64 visible ASCII characters; by default 32 random hex digits.")
        var id: AppID?

        @Flag(help: "Let clients log in without a token. For test environments.")
        var open = false

        @Option(help: "The secret that tokens are made with; by default 32 random hex digits.")
        var certificate: Certificate?

        @OptionGroup var limits: LimitOptions

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                let id = try id ?? AppID(SecureRandom.hex(bytes: 16))
                var chosen = AppLimits()
                limits.patch.apply(to: &chosen)
                try await Database.with { [chosen] pool in
                    do {
                        let app = try await AppStore(pool: pool).create(
                            id: id, certificate: (certificate ?? .random()).text, tokenRequired: !open,
                            limits: chosen)
                        output.show(AppOutput(app, withCertificate: true))
                    } catch let error as PostgresError where error.isDuplicate {
                        throw Failure.refused("the app \(id) already exists")
                    }
                }
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the apps.")

        @Flag(help: "Show the certificates, too.")
        var showCertificates = false

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    let apps = try await AppStore(pool: pool).list()
                        .map { AppOutput($0, withCertificate: showCertificates) }
                    output.show(Listing(name: "apps", records: apps))
                }
            }
        }
    }

    struct Limit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sets an app's limits; options that are not given stay as they are. Applies to later logins.")

        @Argument(help: "The app.")
        var id: AppID

        @OptionGroup var limits: LimitOptions

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    guard let app = try await AppStore(pool: pool).changeLimits(of: id, limits.patch.apply) else {
                        throw AppCommand.unknown(id)
                    }
                    output.show(AppOutput(app, withCertificate: false))
                }
            }
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Gives an app a new certificate: tokens made with the old one no longer log in.")

        @Argument(help: "The app.")
        var id: AppID

        @Option(help: "The new certificate; by default 32 random hex digits.")
        var certificate: Certificate?

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    let store = AppStore(pool: pool)
                    let certificate = (certificate ?? .random()).text
                    // Not one condition: Swift 6.3.1 crashes on it when it optimises.
                    guard try await store.rotateCertificate(id, to: certificate) else { throw AppCommand.unknown(id) }
                    guard let app = try await store.find(id) else { throw AppCommand.unknown(id) }
                    output.show(AppOutput(app, withCertificate: true))
                }
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Removes an app with its users, attributes and call log.")

        @Argument(help: "The app.")
        var id: AppID

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    guard try await AppStore(pool: pool).remove(id) else { throw AppCommand.unknown(id) }
                    output.show(Outcome(deed: "removed", subject: id.rawValue, line: "removed \(id)"))
                }
            }
        }
    }

    static func unknown(_ id: AppID) -> Failure { .refused("there is no app \(id)") }
}
