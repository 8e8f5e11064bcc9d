internal import ArgumentParser
internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import PostgresStore
internal import RedisClient
internal import SignalingProtocol

/// `heliographctl user ...`.
struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Lists and shows users, ends their sessions, and bans them.",
        subcommands: [
            List.self, Show.self, Kick.self, Disconnect.self, Ban.self, Unban.self, Bans.self,
        ])

    struct Disconnect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ends an account's session, wherever it is.",
            discussion: """
                The client is closed with 100 and does not come back by itself; it may log in again unless its token is \
                refused by then. Redis is found by HELIOGRAPH_REDIS_URL (default \(ControlRedis.standardURL)); the order \
                is carried out as soon as a presence service runs. It is noted in the audit trail before, in PostgreSQL.
                """)

        @OptionGroup var user: UserOptions

        @OptionGroup var output: OutputOptions

        func run() async throws { try await UserCommand.disconnect(user, output) }
    }

    struct Kick: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "The same as disconnect.")

        @OptionGroup var user: UserOptions

        @OptionGroup var output: OutputOptions

        func run() async throws { try await UserCommand.disconnect(user, output) }
    }

    private static func disconnect(_ user: UserOptions, _ output: OutputOptions) async throws {
        try await Failure.reported {
            let command = DisconnectUser(user: user.key)
            let id = CommandID("disconnect-\(SecureRandom.hex(bytes: 12))")
            try await ControlRedis.withConnection(libraries: [.streams]) { connection in
                try await Database.note(.disconnect, to: user.key)
                _ = try await connection.execute(PostedCommand.command(on: connection.bus, for: command, id: id))
            }
            output.show(
                Outcome(
                    deed: "disconnected", subject: user.account.rawValue,
                    line: "\(user.account) of \(user.app) will be disconnected"))
        }
    }
}
