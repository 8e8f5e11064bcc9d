internal import ArgumentParser
internal import PostgresStore
internal import ServiceKit
internal import SignalingProtocol
internal import SignalingTokens
internal import SignalingWire

/// `heliographctl token ...`.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Makes login tokens.", subcommands: [Mint.self])

    struct Mint: AsyncParsableCommand {
        private struct Report: Printable {
            let user: UserKey
            /// In Unix seconds.
            let expiry: Int64
            let token: String

            var members: [JSONMember] {
                [
                    JSONMember("account", user.account.rawValue),
                    JSONMember("appId", user.app.rawValue),
                    JSONMember("expiry", expiry),
                    JSONMember("token", token),
                ]
            }

            var lines: [String] { [token] }
        }

        static let configuration = CommandConfiguration(
            abstract: "Prints a login token for an account; noted in the audit trail.")

        @OptionGroup var user: UserOptions

        @Option(help: "Seconds from now to the token's end.")
        var ttl: Int64 = 86_400

        @OptionGroup var output: OutputOptions

        func validate() throws {
            try user.requireNewName()
            guard (1...3_153_600_000).contains(ttl) else {
                throw ValidationError("--ttl must be 1...3153600000 (a hundred years)")
            }
        }

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    guard let record = try await AppStore(pool: pool).find(user.app) else {
                        throw AppCommand.unknown(user.app)
                    }
                    try await AuditStore(pool: pool).note(.mint(seconds: ttl), to: user.key)
                    let expiry = WallClock.seconds + ttl
                    let token = SignalingToken.make(
                        account: user.account.rawValue, app: user.app, certificate: record.certificate, expiry: expiry)
                    output.show(Report(user: user.key, expiry: expiry, token: token))
                }
            }
        }
    }
}
