internal import ArgumentParser
package import BusProtocol
internal import PostgresStore
internal import Provisioning
internal import SignalingProtocol
internal import SignalingWire

/// `heliographctl hook ...`.
struct HookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hook", abstract: "Sets which server of an app is asked before a login, a join or a message.",
        subcommands: [
            Set.self, ShowSetting<BeforeHookRecord>.self, ListSettings<BeforeHookRecord>.self,
            RemoveSetting<BeforeHookRecord>.self,
        ])

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sets an app's before-hook and prints its secret. Gateways follow within 40 s.",
            discussion: "Set it again to change it: what is not named stays as it was.")

        @Argument(help: "The app.")
        var app: AppID

        @OptionGroup var receiver: ReceiverOptions

        @Option(parsing: .upToNextOption, help: "What is asked about: login, join, send; at first all.")
        var on: [HookPoint] = []

        @Option(help: "Milliseconds that the server has for an answer: 50...5000; at first 1000.")
        var deadline: Int?

        @Flag(
            inversion: .prefixedNo, help: "Go on when there is no valid answer in time; at first it is refused.")
        var failOpen: Bool?

        @Flag(
            inversion: .prefixedNo,
            help: "Refuse what exceeds --requests, although --fail-open is set: for moderation.")
        var refuseBusy: Bool?

        @Option(help: "Questions that each event loop of a gateway has under way at most: 1...1000; at first 64.")
        var requests: Int?

        @OptionGroup var output: OutputOptions

        func validate() throws {
            do throws(SettingProblem) { try patch.check() } catch { throw ValidationError(error) }
        }

        /// The options that a file has too, but for the URL and the secret.
        private var patch: HookPatch {
            var patch = HookPatch()
            patch.points = on.isEmpty ? nil : on
            patch.deadline = deadline
            patch.failsOpen = failOpen
            patch.refusesBusy = refuseBusy
            patch.requests = requests
            patch.allowsPrivate = receiver.allowPrivate
            patch.allowsLoopback = receiver.allowLoopback
            return patch
        }

        func run() async throws {
            try await Failure.reported {
                var patch = patch
                patch.url = try receiver.address()
                patch.secret = try receiver.secret.given()
                try await Database.with { [patch] pool in
                    try await pool.changing(["before_hooks"]) { transaction in
                        let store = BeforeHookStore(pool: transaction)
                        let former = try await store.list(app: app).first?.hook
                        let hook = try patch.applied(to: former) { SecureRandom.hex(bytes: 32) }
                        guard try await store.set(hook, of: app) else { throw AppCommand.unknown(app) }
                    }
                    output.show(try await BeforeHookRecord.existing(app, in: pool).output(withSecret: true))
                }
            }
        }
    }
}

extension BeforeHookRecord: AppSetting {
    static var name: String { "before-hook" }
    static var plural: String { "hooks" }
    static var shows: String { "Shows an app's before-hook." }
    static var removes: String { "Removes an app's before-hook. Gateways follow within 40 s." }

    static func all(in pool: PostgresPool) async throws -> [Self] { try await BeforeHookStore(pool: pool).list() }

    static func find(_ app: AppID, in pool: PostgresPool) async throws -> Self? {
        try await BeforeHookStore(pool: pool).list(app: app).first
    }

    static func remove(_ app: AppID, in pool: PostgresPool) async throws -> Bool {
        try await BeforeHookStore(pool: pool).remove(app)
    }

    func output(withSecret: Bool) -> HookOutput { HookOutput(record: self, showsSecret: withSecret) }
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
