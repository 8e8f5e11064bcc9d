internal import ArgumentParser
internal import ClusterState
internal import PostgresStore
internal import RedisStore
internal import SignalingProtocol
internal import SignalingWire

/// `heliographctl restore`.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Puts a backup into an empty database and an empty Redis.",
        discussion: """
            No process of the cluster may run. Afterwards the database is migrated to what this program needs. Needs pg_restore, \
            at least as new as the pg_dump that made the backup, on PATH.
            """)

    @Argument(help: "The directory that `backup` has made.")
    var directory: String

    @Flag(help: "Delete what is in the database and in Redis before.")
    var replace = false

    @Flag(help: "Leave Redis as it is, and the messages of the backup out.")
    var withoutMail = false

    @OptionGroup var output: OutputOptions

    private struct Report: Printable {
        let migration: String
        let applied: [String]
        let mailboxes: Int64

        var members: [JSONMember] {
            [
                JSONMember("applied", .array(applied.map { .string($0) })),
                JSONMember("mailboxes", .number("\(mailboxes)")), JSONMember("migration", .string(migration)),
            ]
        }

        var lines: [String] {
            ["restored the database (as of \(migration)) and \(mailboxes) mailboxes"] + applied.map { "applied \($0)" }
        }
    }

    func run() async throws {
        try await Failure.reported {
            let files = BackupFiles(directory)
            let manifest = try await files.read()
            try await Database.with(checked: false) { pool in
                let contents = DatabaseContents(pool: pool)
                let programs = PostgresPrograms(try Database.configuration())
                try await check(manifest, contents)
                try programs.check(files.dump)
                let masters = try await checkRedis()

                try await contents.removeAll()
                do {
                    try programs.restore(files.dump)
                } catch var failure as Failure {
                    failure.message += "; the database is empty now, Redis is unchanged"
                    throw failure
                }
                let migrations = Migrations(pool: pool, level: ClusterLevel.current)
                let applied = try await migrations.apply()
                try await contents.bringUpToDate()
                if !withoutMail { try await restoreMail(files, on: masters) }
                output.show(
                    Report(
                        migration: manifest.values["migration"] ?? "", applied: applied,
                        mailboxes: withoutMail ? 0 : try manifest.number("mailboxes")))
            }
        }
    }

    /// Refuses a backup that this program or the database cannot take.
    private func check(_ manifest: BackupFiles.Manifest, _ contents: DatabaseContents) async throws {
        let readersFrom = try manifest.number("readers_from")
        guard readersFrom <= ClusterLevel.current else {
            throw Failure.refused(
                "the backup needs a build of level \(readersFrom) or higher; this one has \(ClusterLevel.current)")
        }
        _ = try PostgresPrograms.version(of: "pg_restore", atLeast: try manifest.number("pg_dump"), "the backup")
        switch try await contents.state() {
        case .empty, .unused: break
        case .foreign: throw Failure.refused("the database has tables that are not Heliograph's")
        case .used where replace: break
        case .used: throw Failure.refused("the database has apps or users: --replace deletes them")
        }
    }

    /// Refuses a Redis that is in use.
    /// - Returns: its masters; none without mail, when it is not asked.
    private func checkRedis() async throws -> [NodeAddress] {
        guard !withoutMail else { return [] }
        let running = try await ControlRedis.withConnection { connection in
            do throws(SignalingError) {
                return try await RunningInstances.list(connection)
            } catch {
                throw Failure.refused("Redis: \(error)")
            }
        }
        guard running.isEmpty else {
            let names = running.map(\.id).joined(separator: ", ")
            throw Failure.refused("processes are running, or ended less than 20 s ago: \(names)")
        }
        let inspector = try ControlRedis.inspector()
        let masters = try await inspector.inspect(for: .zero).masters.map(\.address)
        let keys = try await inspector.keyCount(on: masters)
        guard keys == 0 || replace else {
            throw Failure.refused("Redis has \(keys) keys: --replace deletes them")
        }
        return masters
    }

    private func restoreMail(_ files: BackupFiles, on masters: [NodeAddress]) async throws {
        try await ControlRedis.inspector().deleteAllKeys(on: masters)
        try await ControlRedis.withConnection { connection in
            try await files.readMail { mail in
                for result in await connection.execute(mail.restoring) { _ = try result.get() }
            }
        }
    }
}
