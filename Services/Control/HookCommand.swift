internal import ArgumentParser
package import BusProtocol
internal import PostgresStore
internal import SignalingProtocol
internal import SignalingWire

/// `heliographctl hook ...`.
struct HookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hook", abstract: "Sets which server of an app is asked before a login, a join or a message.",
        subcommands: [Set.self, Show.self, List.self, Remove.self])

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sets an app's before-hook and prints its secret. Gateways follow within 40 s.")

        @Argument(help: "The app.")
        var app: AppID

        @Argument(help: "Where questions are posted to: an http or https URL without user and fragment.")
        var url: String

        @Option(parsing: .upToNextOption, help: "What is asked about: login, join, send; by default all.")
        var on: [HookPoint] = []

        @Option(help: "Milliseconds that the server has for an answer: 50...5000.")
        var deadline = 1000

        @Flag(help: "Go on when there is no valid answer in time; otherwise it is refused.")
        var failOpen = false

        @Flag(help: "Refuse what exceeds --requests, although --fail-open is set: for moderation.")
        var refuseBusy = false

        @Option(help: "Questions that each event loop of a gateway has under way at most: 1...1000.")
        var requests = 64

        @OptionGroup var secret: SecretOptions

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
            guard BeforeHook.deadlines.contains(deadline) else { throw ValidationError("--deadline must be 50...5000") }
            guard BeforeHook.requestCounts.contains(requests) else {
                throw ValidationError("--requests must be 1...1000")
            }
        }

        func run() async throws {
            try await Failure.reported {
                let given = try secret.given()
                try await Database.with { pool in
                    guard let url = WebhookURL(url) else { throw Failure.refused("the URL is invalid") }
                    let store = BeforeHookStore(pool: pool)
                    let former = try await store.list(app: app).first?.hook.secret
                    var hook = BeforeHook(
                        url: url, secret: given ?? former ?? SecureRandom.hex(bytes: 32),
                        points: HookPoints(on.isEmpty ? HookPoint.allCases : on))
                    hook.deadline = deadline
                    hook.failsOpen = failOpen
                    hook.requests = requests
                    hook.allowed = AllowedNetworks(private: allowPrivate, loopback: allowLoopback)
                    hook.refusesBusy = refuseBusy
                    guard try await store.set(hook, of: app), let record = try await store.list(app: app).first else {
                        throw AppCommand.unknown(app)
                    }
                    output.show(HookOutput(record: record, showsSecret: true))
                }
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows an app's before-hook.")

        @Argument(help: "The app.")
        var app: AppID

        @Flag(help: "Print the secret too.")
        var withSecret = false

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    guard let record = try await BeforeHookStore(pool: pool).list(app: app).first else {
                        throw HookCommand.missing(app)
                    }
                    output.show(HookOutput(record: record, showsSecret: withSecret))
                }
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the before-hooks of all apps.")

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    let records = try await BeforeHookStore(pool: pool).list()
                    output.show(
                        Listing(name: "hooks", records: records.map { HookOutput(record: $0, showsSecret: false) }))
                }
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Removes an app's before-hook. Gateways follow within 40 s.")

        @Argument(help: "The app.")
        var app: AppID

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    guard try await BeforeHookStore(pool: pool).remove(app) else { throw HookCommand.missing(app) }
                    output.show(Outcome(deed: "removed", subject: app.rawValue, line: "removed the hook of \(app)"))
                }
            }
        }
    }

    private static func missing(_ app: AppID) -> Failure { .refused("the app \(app) has no before-hook") }
}

extension HookPoint: ExpressibleByArgument {}

/// A before-hook as commands print it.
struct HookOutput: PrintableRecord {
    let record: BeforeHookRecord
    let showsSecret: Bool

    var members: [JSONMember] {
        let hook = record.hook
        var members = [
            JSONMember("app", record.app.rawValue), JSONMember("url", hook.url.text),
            JSONMember("on", .array(hook.points.points.map { .string($0.rawValue) })),
            // In milliseconds.
            JSONMember("deadline", hook.deadline), JSONMember("failOpen", hook.failsOpen),
            JSONMember("refuseBusy", hook.refusesBusy), JSONMember("requests", hook.requests),
            JSONMember("allowPrivate", hook.allowed.contains(.privateOnes)),
            JSONMember("allowLoopback", hook.allowed.contains(.loopback)),
            // In Unix milliseconds.
            JSONMember("setAt", record.setAt),
        ]
        if showsSecret { members.append(JSONMember("secret", hook.secret)) }
        return members
    }

    var line: String {
        let hook = record.hook
        let fields = [
            record.app.rawValue, hook.url.text, hook.points.points.map(\.rawValue).joined(separator: ","),
            "\(hook.deadline) ms", hook.failsOpen ? "goes on without an answer" : "refuses without an answer",
            "up to \(hook.requests) questions", hook.refusesBusy ? "refuses more" : nil, hook.allowed.line,
            "set \(Output.time(milliseconds: record.setAt))", showsSecret ? "secret \(hook.secret)" : nil,
        ]
        return fields.compactMap { $0 }.joined(separator: "  ")
    }
}
