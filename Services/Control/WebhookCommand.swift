internal import ArgumentParser
package import BusProtocol
internal import PostgresStore
internal import SignalingProtocol

/// `heliographctl webhook ...`.
struct WebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook", abstract: "Sets where apps' events are sent by HTTP, and shows how that is going.",
        subcommands: [Set.self, Show.self, List.self, Remove.self, Dead.self, Replay.self])

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sets an app's webhook and prints its secret. Services follow within a second.")

        @Argument(help: "The app.")
        var app: AppID

        @Argument(help: "Where events are posted to: an http or https URL without user and fragment.")
        var url: String

        @Option(
            parsing: .upToNextOption,
            help:
                "Which events: online, offline, join, leave, channel_created, channel_destroyed, call; by default all.")
        var kinds: [WebhookKind] = []

        @OptionGroup var secret: SecretOptions

        @Option(help: "Events in one request at most: 1...1000.")
        var batch = 100

        @Flag(help: "The URL may lead into private networks.")
        var allowPrivate = false

        @Flag(help: "The URL may lead to the loopback addresses of the machine that makes the requests.")
        var allowLoopback = false

        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard WebhookURL(url) != nil else {
                throw ValidationError(
                    "URL must be an http or https URL of up to \(WebhookURL.maxBytes) bytes, without user and fragment")
            }
            guard Webhook.batches.contains(batch) else { throw ValidationError("--batch must be 1...1000") }
        }

        func run() async throws {
            try await Failure.reported {
                let given = try secret.given()
                try await Database.with { pool in
                    guard let url = WebhookURL(url) else { throw Failure.refused("the URL is invalid") }
                    let store = WebhookStore(pool: pool)
                    let former = try await store.list(app: app).first?.webhook.secret
                    var webhook = Webhook(
                        app: app, url: url, secret: given ?? former ?? SecureRandom.hex(bytes: 32))
                    if !kinds.isEmpty { webhook.kinds = Swift.Set(kinds) }
                    webhook.batch = batch
                    webhook.allowed = AllowedNetworks(private: allowPrivate, loopback: allowLoopback)
                    guard try await store.set(webhook), let record = try await store.list(app: app).first else {
                        throw AppCommand.unknown(app)
                    }
                    output.show(WebhookOutput(record, showsSecret: true))
                }
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows an app's webhook, its backlog and why it fails.")

        @Argument(help: "The app.")
        var app: AppID

        @Flag(help: "Print the secret too.")
        var withSecret = false

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    guard let record = try await WebhookStore(pool: pool).list(app: app).first else {
                        throw WebhookCommand.missing(app)
                    }
                    output.show(WebhookOutput(record, showsSecret: withSecret))
                }
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the webhooks of all apps.")

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    let records = try await WebhookStore(pool: pool).list()
                    output.show(Listing(name: "webhooks", records: records.map { WebhookOutput($0) }))
                }
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Removes an app's webhook, with the events that wait. Dead letters stay.")

        @Argument(help: "The app.")
        var app: AppID

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    guard try await WebhookStore(pool: pool).remove(app) else { throw WebhookCommand.missing(app) }
                    output.show(Outcome(deed: "removed", subject: app.rawValue, line: "removed the webhook of \(app)"))
                }
            }
        }
    }

    struct Dead: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists an app's dead letters: events that could not be delivered.")

        @Argument(help: "The app.")
        var app: AppID

        @Option(help: "How many, the oldest first: 1...100000.")
        var limit = 100

        @OptionGroup var output: OutputOptions

        func validate() throws { try WebhookCommand.check(limit: limit) }

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    let letters = try await WebhookStore(pool: pool).dead(app, limit: limit)
                    output.show(Listing(name: "letters", records: letters.map { DeadLetterOutput(letter: $0) }))
                }
            }
        }
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Queues an app's dead letters again, for another day of attempts.")

        @Argument(help: "The app.")
        var app: AppID

        @Option(help: "Only the event with this id.")
        var id: String?

        @Option(help: "How many, the oldest first: 1...100000.")
        var limit = 100_000

        @OptionGroup var output: OutputOptions

        func validate() throws { try WebhookCommand.check(limit: limit) }

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    guard let count = try await WebhookStore(pool: pool).replay(app, id: id, limit: limit) else {
                        throw WebhookCommand.missing(app)
                    }
                    output.show(
                        Outcome(deed: "replayed", subject: String(count), line: "queued \(count) events again"))
                }
            }
        }
    }

    private static func check(limit: Int) throws {
        guard (1...100_000).contains(limit) else { throw ValidationError("--limit must be 1...100000") }
    }

    private static func missing(_ app: AppID) -> Failure { .refused("the app \(app) has no webhook") }
}

extension WebhookKind: ExpressibleByArgument {}
