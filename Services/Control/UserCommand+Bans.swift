internal import ArgumentParser
internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import MessageStore
internal import PostgresStore
internal import RedisClient
internal import SignalingProtocol
internal import SignalingWire

extension UserCommand {
    struct Ban: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Keeps an account from logging in for a time, and ends its session.",
            discussion: """
                Logins are refused with 202 `banned`. The account need not exist. A ban replaces an earlier one. It is \
                written to PostgreSQL, then to Redis; where that fails, a presence service does so within a minute.
                """)

        @OptionGroup var user: UserOptions

        @OptionGroup var ban: BanOptions

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    let end = ban.end
                    guard let entry = try await BanStore(pool: pool).set(user.key, until: end, reason: ban.reason)
                    else { throw AppCommand.unknown(user.app) }
                    try await UserCommand.tell(
                        user.key, until: end, tokens: entry.tokensUntil, version: entry.version)
                    output.show(BanOutput(entry))
                }
            }
        }
    }

    struct Unban: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ends an account's ban, if there is one.", discussion: "The account may log in again at once.")

        @OptionGroup var user: UserOptions

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    let entry = try await BanStore(pool: pool).lift(user.key)
                    try await UserCommand.tell(user.key, until: 0, tokens: entry.tokensUntil, version: entry.version)
                    output.show(
                        Outcome(
                            deed: "unbanned", subject: user.account.rawValue,
                            line: "\(user.account) of \(user.app) may log in"))
                }
            }
        }
    }

    struct Bans: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the banned accounts of an app.")

        @Option(help: "The app.")
        var app: AppID

        @OptionGroup var paging: PageOptions

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.withRecords(of: app) { records in
                    output.show(
                        try await records.page(.bans, paging) { ban in
                            let reason = ban.visible("reason") ?? ""
                            return "\(ban.visible("account") ?? "")  until \(ban.time("until") ?? "")"
                                + (reason.isEmpty ? "" : "  \(reason)")
                        })
                }
            }
        }
    }

    /// After this time the order to end a banned user's session is dropped: the ban may be over when a presence service
    /// starts, which ends the sessions of those who are still banned by itself.
    private static let patience = Duration.seconds(60)

    /// Writes a ban to Redis, from when on no session can be opened, and then ends the
    /// session; or writes the end of a ban.
    /// - Parameters:
    ///   - until: in Unix seconds; 0 for the end.
    ///   - tokens: which login tokens were revoked.
    private static func tell(_ user: UserKey, until: Int64, tokens: Int64, version: Int64) async throws {
        try await ControlRedis.withConnection(libraries: [.presence, .streams]) { connection in
            _ = try await connection.execute(.noting(banOf: user, until: until, tokens: tokens, version: version))
            guard until > 0 else { return }
            let command = DisconnectUser(user: user)
            let slot = connection.bus.partition(of: command.subject).slot
            let now = try await connection.execute(RedisCommand("TIME").inSlot(slot)).time
            _ = try await connection.execute(
                PostedCommand.command(
                    on: connection.bus, for: command, id: CommandID("ban-\(version)-\(SecureRandom.hex(bytes: 8))"),
                    deadline: now.map { $0 + patience }))
        }
    }
}

/// A ban as commands print it.
private struct BanOutput: PrintableRecord {
    let account: String
    private let ban: UserBan

    init(_ entry: BanStore.Entry) {
        account = entry.user.account.rawValue
        ban = entry.ban
    }

    var members: [JSONMember] {
        [
            JSONMember("account", account), JSONMember("reason", ban.reason),
            // In Unix seconds.
            JSONMember("until", ban.until), JSONMember("createdAt", ban.createdAt),
        ]
    }

    var line: String {
        "\(account.visible)  until \(Output.time(milliseconds: ban.until * 1000))"
            + (ban.reason.isEmpty ? "" : "  \(ban.reason.visible)")
    }
}
