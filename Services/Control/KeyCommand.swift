internal import ArgumentParser
package import BusProtocol
internal import PostgresStore
internal import ServiceKit
internal import SignalingProtocol
internal import SignalingTokens
internal import SignalingWire

/// `heliographctl key ...`.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Makes, lists and revokes keys of the server API.",
        subcommands: [Create.self, List.self, Revoke.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a key and prints it. It is not stored and cannot be shown again.")
        private static let secondsPerDay = 86_400

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
            let (rates, days) = (APIKey.rates, APIKey.seconds.upperBound / Self.secondsPerDay)
            guard rates.contains(rate) else {
                throw ValidationError("--rate must be \(rates.lowerBound)...\(rates.upperBound)")
            }
            guard self.days.map((1...days).contains) ?? true else {
                throw ValidationError("--days must be 1...\(days) (a hundred years)")
            }
            guard APIKey.noteBytes.contains(note.utf8.count) else {
                throw ValidationError("--note may have up to \(APIKey.noteBytes.upperBound) bytes")
            }
        }

        func run() async throws {
            try await Failure.reported {
                let text = APIKeyText.random()
                let key = APIKey(
                    id: text.id, digest: text.digest, app: app, scopes: APIScopes(scopes), requestsPerSecond: rate,
                    expiry: days.map { WallClock.seconds + Int64($0 * Self.secondsPerDay) })
                try await Database.with { pool in
                    switch try await APIKeyStore(pool: pool).create(key, note: note) {
                    case .created(let record): output.show(try Self.shown(record, text))
                    case .unknownApp: throw Failure.refused("there is no app \(app?.rawValue ?? "")")
                    case .tooMany: throw Failure.refused("at most \(APIKey.bound) keys are valid at a time")
                    }
                }
            }
        }

        private static func shown(_ record: String, _ text: APIKeyText) throws -> Record {
            guard case .object(let members) = try JSONValue.parse(record.utf8) else {
                throw Failure.refused("PostgreSQL's record of the key is no object")
            }
            return Record(key: .object(members + [JSONMember("key", text.text)]))
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the keys by id, revoked ones too.")

        @Option(help: "Only those of this app.")
        var app: AppID?

        @OptionGroup var paging: PageOptions

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    let records = AppRecords(store: RecordListStore(pool: pool), app: app)
                    output.show(try await records.page(.keys, paging) { Record(key: $0).line })
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
