internal import ArgumentParser
internal import ClusterBus
internal import ClusterState
internal import ControlInspection
internal import PostgresStore
internal import RedisClient
internal import SignalingProtocol
internal import SignalingWire

/// `heliographctl restore`.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Puts a backup into an empty database and an empty Redis.",
        discussion: """
            No process of the cluster may run. The database gets all of the backup, or stays as it was; afterwards it is migrated to \
            what this program needs. What others have in the database is never changed: where there is something in Heliograph's \
            schema, or it needs Heliograph's tables, the restore is refused. The same holds for Redis. Needs pg_restore, at least as new \
            as the pg_dump that made the backup, and psql on PATH.
            """)

    @Argument(help: "The directory that `backup` has made.")
    var directory: String

    @Flag(help: "Delete what Heliograph has in the database and in Redis before.")
    var replace = false

    @Flag(
        help: """
            Accept that access and events are as of the backup: API keys and tokens that were revoked since work again, bans that were \
            lifted hold again, later bans are gone, and webhook events that waited are sent again. Without it nothing is restored.
            """)
    var asOfBackup = false

    @Flag(
        help:
            ArgumentHelp(
                "Leave the messages of the backup out. Redis is emptied nevertheless: it knows users whom the backup "
                    + "does not.")
    )
    var withoutMail = false

    @Flag(help: "Leave webhook events that waited out, so that none is sent again.")
    var withoutWebhooks = false

    @OptionGroup var output: OutputOptions

    private struct Report: Printable {
        let migration: String
        let savedAt: String
        let applied: [String]
        let mailboxes: Int64
        let revived: DatabaseContents.Revived

        var members: [JSONMember] {
            [
                JSONMember("apiKeys", revived.keys),
                JSONMember("applied", .array(applied.map { .string($0) })),
                JSONMember("bans", revived.bans),
                JSONMember("mailboxes", mailboxes), JSONMember("migration", migration),
                JSONMember("revokedTokens", revived.revocations),
                JSONMember("savedAt", savedAt),
                JSONMember("webhookEvents", revived.events),
            ]
        }

        var lines: [String] {
            [
                "restored the database (as of \(migration)) and \(mailboxes) mailboxes, as they were at \(savedAt)",
                "API keys: \(revived.keys); those that were revoked since work again",
                "bans: \(revived.bans); those that were lifted since hold again, and later ones are gone",
                "accounts with revoked tokens: \(revived.revocations); tokens that were revoked since work again",
                "webhook events: \(revived.events) are sent once a webhooks process runs",
            ] + applied.map { "applied \($0)" }
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
                let schema = try await contents.schema()
                let dump = try check(programs.check(files.dump), schema)
                try await checkNothingRuns(contents)
                let masters = try await checkRedis()
                try checkAccepted(manifest)

                try programs.replace(
                    try await contents.removal(), by: dump.entries, of: files.dump, schema: schema)
                output.show(try await complete(files, manifest, pool, on: masters))
            }
        }
    }

    // MARK: - Before anything is changed

    /// Refuses a backup that this program or the database cannot take.
    private func check(_ manifest: BackupFiles.Manifest, _ contents: DatabaseContents) async throws {
        let readersFrom = try manifest.number("readers_from")
        guard readersFrom <= ClusterLevel.current else {
            throw Failure.refused(
                "the backup needs a build of level \(readersFrom) or higher; this one has \(ClusterLevel.current)")
        }
        _ = try PostgresPrograms.version(of: "pg_restore", atLeast: try manifest.number("pg_dump"), "the backup")
        _ = try PostgresPrograms.version(of: "psql", atLeast: 0, "a restore")
        switch try await contents.state() {
        case .empty, .unused: break
        case .foreign(let objects):
            throw Failure.refused(
                "the database has tables, functions or views that are not Heliograph's, in its schema or needing its "
                    + "tables: \(Self.list(objects.map(\.description))); nothing of others is ever touched, so restore "
                    + "into another database"
            )
        case .used where replace: break
        case .used: throw Failure.refused("the database has apps or users: --replace deletes them")
        }
    }

    /// Refuses a dump whose tables are others'.
    private func check(_ lines: [Substring], _ schema: String) throws -> DumpContents {
        var dump = DumpContents(lines, schema: schema)
        guard dump.hasTables else {
            throw Failure.refused("the backup has no tables for the schema \(schema), which this database uses")
        }
        guard dump.foreign.isEmpty else {
            throw Failure.refused(
                "the backup has tables that are not Heliograph's: \(Self.list(dump.foreign)); restore it by pg_restore")
        }
        if withoutWebhooks { dump.leaveOutRows(of: "webhook_events", schema: schema) }
        return dump
    }

    private static func list(_ names: [String]) -> String {
        let shown = 3
        let rest = names.count > shown ? " and \(names.count - shown) more" : ""
        return names.prefix(shown).joined(separator: ", ") + rest
    }

    /// How often a restore looks for sessions, with ``pause`` in between: the server takes a moment to end that of
    /// a program that has just ended.
    private static let looks = 10
    private static let pause = Duration.milliseconds(200)

    /// Refuses while a process uses Redis or the database.
    private func checkNothingRuns(_ contents: DatabaseContents) async throws {
        let running = try await ControlRedis.withConnection { connection in
            do throws(SignalingError) {
                return try await RunningInstances.list(connection)
            } catch {
                throw Failure.refused("Redis: \(error)")
            }
        }
        guard running.isEmpty else {
            throw Failure.refused(
                "processes are running, or ended less than 20 s ago: \(running.map(\.id).joined(separator: ", "))")
        }
        for look in 1... {
            let sessions = try await contents.otherSessions()
            if sessions.isEmpty { return }
            guard look < Self.looks else {
                throw Failure.refused(
                    "processes of Heliograph use the database, in PostgreSQL's sessions "
                        + "\(Self.list(sessions.map { "\($0)" })): stop them; `SELECT pg_terminate_backend(SESSION)` "
                        + "ends that of a process which is gone")
            }
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Refuses a Redis that is in use. Also without mail: Redis knows the numbers of users who came after the backup,
    /// and the database would give the same numbers to others.
    /// - Returns: its masters.
    private func checkRedis() async throws -> [NodeAddress] {
        let inspector = try ControlRedis.inspector()
        let masters = try await inspector.inspect(for: .zero).masters.map(\.address)
        if let key = try await inspector.foreignKey(on: masters) {
            throw Failure.refused(
                "Redis has keys that are not Heliograph's, such as \(key), in the database that HELIOGRAPH_REDIS_URL "
                    + "names: nothing of others is ever deleted, so use another database or remove them")
        }
        let keys = try await inspector.keyCount(on: masters)
        guard keys == 0 || replace else {
            throw Failure.refused("Redis has \(keys) keys: --replace deletes them")
        }
        return masters
    }

    /// Refuses until the operator has said that old access may come back.
    private func checkAccepted(_ manifest: BackupFiles.Manifest) throws {
        guard !asOfBackup else { return }
        let events =
            withoutWebhooks
            ? "" : ", and webhook events that waited are sent again (--without-webhooks leaves them out)"
        throw Failure.refused(
            "as of \(manifest.savedAt), API keys and tokens that were revoked since work again, bans that were lifted "
                + "hold again, later bans are gone\(events): --as-of-backup accepts that")
    }

    // MARK: - Once the database is as of the backup

    private func complete(
        _ files: BackupFiles, _ manifest: BackupFiles.Manifest, _ pool: PostgresPool, on masters: [NodeAddress]
    ) async throws -> Report {
        let contents = DatabaseContents(pool: pool)
        do {
            // First, because users whom the database does not know must not be found there whatever fails next.
            try await ControlRedis.inspector().deleteAllKeys(on: masters)
            let applied = try await Migrations(pool: pool, level: ClusterLevel.current).apply()
            try await contents.bringUpToDate()
            if !withoutMail { try await restoreMail(files) }
            return Report(
                migration: manifest.values["migration"] ?? "", savedAt: manifest.savedAt, applied: applied,
                mailboxes: withoutMail ? 0 : try manifest.number("mailboxes"), revived: try await contents.revived())
        } catch let error as PostgresError {
            throw Self.incomplete(Failure(error))
        } catch let error as RedisError {
            throw Self.incomplete(Failure(error))
        }
    }

    private static func incomplete(_ failure: Failure) -> Failure {
        var failure = failure
        failure.message +=
            "; the database is as of the backup, but what follows is not done: start no process, and repeat the "
            + "command with --replace"
        return failure
    }

    private func restoreMail(_ files: BackupFiles) async throws {
        try await ControlRedis.withConnection { connection in
            try await files.readMail { mail in
                for result in await connection.execute(mail.restoring) { _ = try result.get() }
            }
        }
    }
}
