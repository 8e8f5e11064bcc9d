internal import ArgumentParser
internal import ControlInspection
internal import PostgresStore
internal import RedisClient
internal import SignalingWire

/// `heliographctl waiting`.
struct WaitingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "waiting", abstract: "Counts the messages that wait for users, the most first.",
        discussion: """
            Searches all keys of Redis: about 1 ms of each master's time per thousand keys, with other requests in between. \
            Messages that have expired count until somebody reads or removes them.
            """)

    @Option(help: "How many users to list.")
    var limit = 20

    @Flag(help: "Also put the numbers of all users into the table waiting_mail, in place of the last ones.")
    var record = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...1_000_000).contains(limit) else { throw ValidationError("--limit must be 1...1000000") }
    }

    func run() async throws {
        try await Failure.reported {
            let inspector = try ControlRedis.inspector()
            let masters = try await inspector.inspect(for: .zero).masters.map(\.address)
            let mail = try await inspector.waitingMail(on: masters)
            if record {
                try await Database.with { pool in
                    try await WaitingMailStore(pool: pool).replace(mail.map { ($0.app, $0.account, $0.messages) })
                }
            }
            output.show(Listing(name: "users", records: mail.prefix(limit).map { WaitingOutput(mail: $0) }))
        }
    }
}

/// What waits for a user, as commands print it.
private struct WaitingOutput: PrintableRecord {
    let mail: WaitingMail

    var members: [JSONMember] {
        [
            JSONMember("account", mail.account), JSONMember("appId", mail.app),
            JSONMember("messages", mail.messages),
        ]
    }

    var line: String { "\(mail.app)  \(mail.account)  \(mail.messages)" }
}
