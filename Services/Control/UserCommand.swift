internal import ArgumentParser
internal import ClusterState
internal import Logging
internal import NIOPosix
internal import RedisStore
internal import ServiceKit
internal import SignalingProtocol
internal import SignalingWire

/// `heliographctl user ...`.
struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Ends users' sessions.", subcommands: [Disconnect.self])

    struct Disconnect: AsyncParsableCommand {
        private struct Report: Encodable {
            var disconnected: String
        }

        static let standardURL = "redis://127.0.0.1:6379"

        static let configuration = CommandConfiguration(
            abstract: "Ends an account's session, wherever it is.",
            discussion: """
                The client is closed with 100 and does not come back by itself; it may log in again unless its token is \
                refused by then. Redis is found by HELIOGRAPH_REDIS_URL (default \(standardURL)); the order is carried out \
                as soon as a presence service runs.
                """)

        @OptionGroup var user: UserOptions

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                var reader = EnvironmentReader.process()
                let url = reader.string("REDIS_URL", default: Self.standardURL, "where Redis is")
                do throws(RedisError) {
                    try await Self.post(DisconnectUser(user: user.key), url)
                } catch {
                    throw Failure(error)
                }
                if output.json { return try Output.json(Report(disconnected: user.account.rawValue)) }
                print("\(user.account) of \(user.app) will be disconnected")
            }
        }

        private static func post(_ command: DisconnectUser, _ url: String) async throws(RedisError) {
            let connection = RedisConnection(
                configuration: try RedisConfiguration(url: url),
                eventLoop: MultiThreadedEventLoopGroup.singleton.next(), libraries: [.streams],
                logger: Logger(label: "heliographctl") { _ in SwiftLogNoOpLogHandler() })
            connection.start()
            let id = CommandID("disconnect-\(SecureRandom.hex(bytes: 12))")
            let posted = await connection.execute([PostedCommand.command(for: command, id: id)])
            await connection.close()
            for result in posted { _ = try result.get() }
        }
    }
}
