internal import ArgumentParser
internal import ClusterState
internal import ControlInspection
internal import PostgresStore
internal import RedisClient
internal import ServiceKit
internal import SignalingWire

/// `heliographctl backup`.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Saves the database, and the messages that wait in Redis, to a new directory.",
        discussion: """
            May run while the cluster does. Of Redis, only mailboxes are saved; sessions, channels' members and calls in progress \
            are not, because they end with a restore. Of the database, only Heliograph's tables are: no other schema, no table of \
            others. The directory holds the apps' certificates. Needs pg_dump, at least as \
            new as the server, on PATH.
            """)

    @Argument(help: "The directory; it must not exist.")
    var directory: String

    @Flag(help: "Do not save the messages that wait; Redis is not asked.")
    var withoutMail = false

    @OptionGroup var output: OutputOptions

    private struct Report: Printable {
        let directory: String
        let migration: String
        let mailboxes: Int
        /// Relations of others in the schema.
        let leftOut: [String]

        var members: [JSONMember] {
            [
                JSONMember("directory", directory),
                JSONMember("leftOut", .array(leftOut.map { .string($0) })),
                JSONMember("mailboxes", mailboxes),
                JSONMember("migration", migration),
            ]
        }

        var lines: [String] {
            ["saved the database (as of \(migration)) and \(mailboxes) mailboxes to \(directory)"]
                + leftOut.map { "left out \($0): it is not Heliograph's" }
        }
    }

    func run() async throws {
        try await Failure.reported {
            try await Database.with { pool in
                let contents = DatabaseContents(pool: pool)
                let version = try await contents.serverVersion()
                let dumper = try PostgresPrograms.version(of: "pg_dump", atLeast: version, "the server")
                let level = try await contents.level()
                let files = BackupFiles(directory)
                try files.make()
                let others = try await contents.foreignObjects().compactMap(\.relation)
                try PostgresPrograms(try Database.configuration())
                    .dump(schema: try await contents.schema(), without: others, to: files.dump)
                let mailboxes = try await saveMail(to: files)
                try files.write([
                    "created_at": Output.time(milliseconds: WallClock.milliseconds),
                    "level": "\(ClusterLevel.current)",
                    "mailboxes": "\(mailboxes)", "migration": level.migration, "pg_dump": "\(dumper)",
                    "readers_from": "\(level.readersFrom)",
                ])
                output.show(
                    Report(directory: directory, migration: level.migration, mailboxes: mailboxes, leftOut: others))
            }
        }
    }

    /// Saves the mailboxes after the database, so that those who got mail since are the only ones who may lack in it.
    /// - Returns: their number.
    private func saveMail(to files: BackupFiles) async throws -> Int {
        var mailboxes = 0
        try await files.writeMail { save in
            guard !withoutMail else { return }
            let inspector = try ControlRedis.inspector()
            let masters = try await inspector.inspect(for: .zero).masters.map(\.address)
            try await inspector.saveMail(on: masters) { mail throws(RedisError) in
                mailboxes += 1
                try save(mail)
            }
        }
        return mailboxes
    }
}
