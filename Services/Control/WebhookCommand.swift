internal import ArgumentParser
package import BusProtocol
internal import PostgresStore
internal import Provisioning
internal import SignalingProtocol

/// `heliographctl webhook ...`.
struct WebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook", abstract: "Sets where apps' events are sent by HTTP, and shows how that is going.",
        subcommands: [
            Set.self, ShowSetting<WebhookRecord>.self, ListSettings<WebhookRecord>.self,
            RemoveSetting<WebhookRecord>.self, Rotate.self, Test.self, Deliveries.self, Dead.self, Replay.self,
        ])

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sets a webhook of an app and prints its secret. Services follow within a second.",
            discussion: "Set it again to change it: what is not named stays as it was.")

        private static let kindNames = WebhookKind.allCases.map(\.rawValue).joined(separator: ", ")

        @OptionGroup var place: WebhookPlace

        @OptionGroup var receiver: ReceiverOptions

        @Option(
            parsing: .upToNextOption,
            help: "Which events: \(Self.kindNames); at first all but message."
        )
        var kinds: [WebhookKind] = []

        @Flag(
            inversion: .prefixedNo,
            help: "Events of the kind message have the texts of the messages; ends where --kinds leaves that kind out.")
        var messageText: Bool?

        @Option(help: "Events in one request at most: 1...1000; at first 100.")
        var batch: Int?

        @OptionGroup var overlap: OverlapOptions

        @OptionGroup var output: OutputOptions

        func validate() throws {
            do throws(SettingProblem) { try patch.check() } catch { throw ValidationError(error) }
        }

        /// What the options say, but for the URL and the secret.
        private var patch: WebhookPatch {
            var patch = WebhookPatch()
            patch.kinds = kinds.isEmpty ? nil : kinds
            patch.messageText = messageText
            patch.batch = batch
            patch.allowsPrivate = receiver.allowPrivate
            patch.allowsLoopback = receiver.allowLoopback
            return patch
        }

        func run() async throws {
            try await Failure.reported {
                var patch = patch
                patch.url = try receiver.address()
                patch.secret = try receiver.secret.given()
                let key = place.key
                try await Database.with { [patch] pool in
                    try await set(key, patch, in: pool)
                    output.show(try await WebhookRecord.existing(key, in: pool).output(withSecret: true))
                }
            }
        }

        private func set(_ key: WebhookKey, _ patch: WebhookPatch, in pool: PostgresPool) async throws {
            // The table of webhooks is written all the time by the service, which waits for single rows only.
            try await pool.changing(["apps"]) { transaction in
                let store = WebhookStore(pool: transaction)
                try await store.lock([key.app])
                let all = try await store.list(app: key.app).map(\.webhook)
                let former = all.first { $0.key == key }
                guard former != nil || all.count < WebhookKey.mostOfApp else {
                    throw Failure.refused("the app \(key.app) has \(all.count) webhooks, as many as it may")
                }
                let webhook = try patch.applied(to: former, of: key) { SecureRandom.hex(bytes: 32) }
                guard try await store.set(webhook, overlap: overlap.duration) else {
                    throw AppCommand.unknown(key.app)
                }
            }
        }
    }

    struct Dead: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists a webhook's dead letters: events that could not be delivered.")

        @OptionGroup var place: WebhookPlace

        @Option(help: "How many, the oldest first: 1...100000.")
        var limit = 100

        @OptionGroup var output: OutputOptions

        func validate() throws { try WebhookCommand.check(limit: limit) }

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    let letters = try await WebhookStore(pool: pool).dead(place.key, limit: limit)
                    output.show(Listing(name: "letters", records: letters.map { DeadLetterOutput(letter: $0) }))
                }
            }
        }
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Queues a webhook's dead letters again, for another day of attempts.")

        @OptionGroup var place: WebhookPlace

        /// The times that `--since` and `--until` may name, in Unix seconds.
        private static let times: ClosedRange<Int64> = 0...9_999_999_999

        @Option(help: "Only the event with this id.")
        var id: String?

        @Option(help: "Only events that were given up at this time or later, in Unix seconds.")
        var since: Int64?

        @Option(help: "Only events that were given up before this time, in Unix seconds.")
        var until: Int64?

        @Option(help: "How many, the oldest first: 1...100000.")
        var limit = 100_000

        @OptionGroup var output: OutputOptions

        private var begin: Int64 { since ?? Self.times.lowerBound }

        /// Without `--until` after all times.
        private var end: Int64 { until ?? Self.times.upperBound + 1 }

        func validate() throws {
            try WebhookCommand.check(limit: limit)
            for (name, time) in [("--since", since), ("--until", until)] {
                guard Self.times.contains(time ?? 0) else {
                    throw ValidationError("\(name) must be 0...\(Self.times.upperBound)")
                }
            }
            guard begin < end else { throw ValidationError("--since must be before --until") }
        }

        func run() async throws {
            try await Failure.reported {
                let key = place.key
                try await Database.with { pool in
                    let store = WebhookStore(pool: pool)
                    guard let count = try await store.replay(key, id: id, died: begin..<end, limit: limit) else {
                        throw WebhookRecord.missing(key)
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
}

extension WebhookRecord: AppSetting {
    typealias Place = WebhookPlace

    static var name: String { "webhook" }
    static var plural: String { "webhooks" }
    static var shows: String { "Shows a webhook of an app, its backlog and why it fails." }
    static var removes: String { "Removes a webhook of an app, with the events that wait. Dead letters stay." }

    static func all(in pool: PostgresPool) async throws -> [Self] { try await WebhookStore(pool: pool).list() }

    static func find(_ key: WebhookKey, in pool: PostgresPool) async throws -> Self? {
        try await WebhookStore(pool: pool).list(app: key.app).first { $0.webhook.key == key }
    }

    static func remove(_ key: WebhookKey, in pool: PostgresPool) async throws -> Bool {
        try await WebhookStore(pool: pool).remove(key)
    }

    func output(withSecret: Bool) -> WebhookOutput { WebhookOutput(self, showsSecret: withSecret) }
}

extension WebhookKind: ExpressibleByArgument {}
