internal import PostgresStore

/// `pg_dump`, `pg_restore` and `psql`, as found on PATH. They get the server's address and
/// password by their environment.
struct PostgresPrograms {
    private let variables: [String: String]

    init(_ configuration: PostgresConfiguration) { variables = configuration.environment }

    /// The major version of a program.
    /// - Throws: ``Failure`` when it is not on PATH, or is older than what it has to work with.
    static func version(of program: String, atLeast least: Int64, _ what: String) throws -> Int64 {
        let ending = try Program.run(program, ["--version"])
        // pg_dump (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)
        let digits = ending.text.split(separator: ")").dropFirst().first?.drop(while: { $0 == " " }).prefix(
            while: \.isNumber)
        guard ending.status == 0, let version = digits.flatMap({ Int64($0) }) else {
            throw Failure.refused("\(program) --version: \(ending.lastLine)")
        }
        guard version >= least else {
            throw Failure.refused("\(program) on PATH is of version \(version); \(what) needs \(least) or newer")
        }
        return version
    }

    /// Writes a schema to a file, without the rows of ``DatabaseContents/transient``.
    /// - Parameter others: relations that are left out, as SQL writes their names.
    func dump(schema: String, without others: [String], to file: String) throws {
        let pattern = "\"" + schema.replacing("\"", with: "\"\"") + "\""
        try run(
            "pg_dump",
            ["--format=custom", "--file=\(file)", "--schema=\(pattern)"]
                + DatabaseContents.transient.map { "--exclude-table-data=\(pattern).\($0)" }
                + others.map { "--exclude-table=\($0)" })
    }

    /// Reads a file to its end.
    /// - Returns: its table of contents.
    func check(_ file: String) throws -> [Substring] {
        try run("pg_restore", ["--file=/dev/null", file])
        return try run("pg_restore", ["--list", file]).split(separator: "\n")
    }

    /// Replaces objects of the database by those of a file, in one transaction: all of it happens, or nothing does.
    /// - Parameters:
    ///   - removal: the statements that remove what was before.
    ///   - entries: the lines of the file's table of contents that are restored.
    /// - Throws: ``Failure``, which says what the database has now.
    func replace(_ removal: [String], by entries: [Substring], of file: String, schema: String) throws {
        let list = try TemporaryFile(entries.joined(separator: "\n") + "\n")
        defer { list.remove() }
        let begin = ["BEGIN;", "SET LOCAL lock_timeout = '2s';"] + removal
        let ending = try Program.run(
            "sh",
            [
                "-c", Self.replacing, "sh", begin.joined(separator: "\n"), list.path, schema, file,
                "COMMIT;\n\\echo \(Self.committed)",
            ], variables: variables)
        // psql ends well, and commits nothing, when its input ends too early.
        if ending.status == 0, ending.text.contains(Self.committed) { return }
        let result =
            ending.status == Self.connectionLost
            ? "the connection was lost: the database is as before, or as of the backup; Redis is as before"
            : "the database and Redis are as before"
        throw Failure.refused("restoring: \(Self.reason(ending)); \(result)")
    }

    /// Has psql run $1, what pg_restore makes of the entries $2 of the schema $3 of the file $4, and $5 only when that
    /// is whole. pg_restore 17 writes a setting, always among the first lines, that servers of older releases refuse.
    private static let replacing = """
        { printf '%s\\n' "$1" &&
          pg_restore --file=- --use-list="$2" --schema="$3" --no-owner --no-privileges "$4" && printf '%s\\n' "$5"; } |
        sed '1,60s/^SET transaction_timeout = 0;$//' |
        psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --output=/dev/null
        """

    /// What psql prints once everything is done.
    private static let committed = "the restore is committed"
    /// The status of psql when it has lost its connection.
    private static let connectionLost: Int32 = 2

    /// The first error with its detail, which names objects.
    private static func reason(_ ending: Program.Ending) -> String {
        let lines = ending.text.split(separator: "\n")
        guard let first = lines.firstIndex(where: { $0.contains("ERROR:") || $0.contains("error:") }) else {
            return ending.lastLine
        }
        let detail = lines[(first + 1)...].prefix(1).filter { $0.hasPrefix("DETAIL:") }
        return ([lines[first]] + detail).joined(separator: " ")
    }

    @discardableResult
    private func run(_ program: String, _ arguments: [String]) throws -> String {
        let ending = try Program.run(program, arguments, variables: variables)
        guard ending.status == 0 else { throw Failure.refused("\(program): \(ending.lastLine)") }
        return ending.text
    }
}
