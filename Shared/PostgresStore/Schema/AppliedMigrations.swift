/// The migrations that are applied to a database, compared with those of a build.
struct AppliedMigrations: Equatable, Sendable {
    /// One row of `schema_migrations`.
    struct Row: Equatable, Sendable {
        var number: Int64
        var name: String
        var checksum: String
        /// The lowest level of a build that works with the database after this migration.
        var readersFrom: Int64
    }

    /// The build's migrations that are not applied yet, in order.
    let pending: [Migration]
    /// Names of applied migrations that the build does not contain: they belong to a newer release.
    let ahead: [String]

    /// Compares the rows of a database with the migrations of a build of `level`.
    /// - Throws: ``PostgresError/Kind/migration`` when an applied migration differs from the build's file, or the
    ///   database requires a build of a higher level.
    init(_ rows: [Row], migrations: [Migration], level: Int64) throws(PostgresError) {
        let known = Dictionary(uniqueKeysWithValues: migrations.map { ($0.number, $0) })
        var ahead: [String] = []
        for row in rows {
            guard let expected = known[row.number] else {
                ahead.append(row.name)
                continue
            }
            guard row.name == expected.name, row.checksum == expected.checksum else {
                throw PostgresError(.migration, "\(expected.name) differs from what was applied to the database")
            }
        }
        if let highest = rows.max(by: { $0.readersFrom < $1.readersFrom }), highest.readersFrom > level {
            throw PostgresError(
                .migration,
                "since \(highest.name) the database works with builds of level \(highest.readersFrom) or higher; "
                    + "this one has level \(level)")
        }
        let applied = Set(rows.map(\.number))
        pending = migrations.filter { !applied.contains($0.number) }
        self.ahead = ahead
    }

    /// The pending migrations without which the build does not work.
    var lacking: [Migration] { pending.filter { $0.kind == .expand } }
    /// The pending migrations that may be applied only after the previous release's processes have ended.
    var waiting: [Migration] { pending.filter { $0.kind == .contract } }
}
