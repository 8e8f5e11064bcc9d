internal import ArgumentParser
package import BusProtocol
internal import PostgresStore
internal import ServiceKit
internal import SignalingProtocol
internal import SignalingTokens

/// `heliographctl key ...`.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Makes, lists and revokes keys of the server API.",
        subcommands: [Create.self, List.self, Revoke.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a key and prints it. It is not stored and cannot be shown again.")

        @Option(help: "The app that the key may use.")
        var app: AppID?

        @Flag(help: "A cluster key, which may use all apps.")
        var cluster = false

        @Option(parsing: .upToNextOption, help: "What it may do: read, send, admin.")
        var scopes: [APIScope] = [.read, .send]

        @Option(help: "Requests per second at each gateway process; each message of a batch counts as one.")
        var rate = 1000

        @Option(help: "Days until it ends by itself; by default it does not.")
        var days: Int?

        @Option(help: "What it is for: up to 200 bytes.")
        var note = ""

        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (app != nil) != cluster else { throw ValidationError("give either --app or --cluster") }
            guard (1...1_000_000).contains(rate) else { throw ValidationError("--rate must be 1...1000000") }
            guard days.map((1...36_500).contains) ?? true else {
                throw ValidationError("--days must be 1...36500 (a hundred years)")
            }
            guard note.utf8.count <= 200 else { throw ValidationError("--note may have up to 200 bytes") }
        }

        func run() async throws {
            try await Failure.reported {
                let text = APIKeyText.random()
                let key = APIKey(
                    id: text.id, digest: text.digest, app: app, scopes: APIScopes(scopes), requestsPerSecond: rate,
                    expiry: days.map { WallClock.seconds + Int64($0) * 86_400 })
                try await Database.with { pool in
                    guard let record = try await APIKeyStore(pool: pool).create(key, note: note) else {
                        throw Failure.refused("there is no app \(app?.rawValue ?? "")")
                    }
                    output.show(KeyOutput(record, secret: text.text))
                }
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the keys, revoked ones too.")

        @Option(help: "Only those of this app.")
        var app: AppID?

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    let keys = try await APIKeyStore(pool: pool).list(app: app).map { KeyOutput($0) }
                    output.show(Listing(name: "keys", records: keys))
                }
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ends a key. Gateways refuse it within 7 seconds.")

        @Argument(help: "The key's id, as `key list` shows it: 16 hexadecimal digits.")
        var id: String

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    guard try await APIKeyStore(pool: pool).revoke(id) else {
                        throw Failure.refused("there is no key with that id")
                    }
                    output.show(Outcome(deed: "revoked", subject: id, line: "revoked \(id)"))
                }
            }
        }
    }
}

extension APIScope: ExpressibleByArgument {}
