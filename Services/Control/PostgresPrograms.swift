internal import PostgresStore

/// `pg_dump` and `pg_restore`, as found on PATH. They get the server's address and password by their environment.
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

    /// Writes the database to a file, without the rows of ``DatabaseContents/transient``.
    func dump(to file: String) throws {
        try run(
            "pg_dump",
            ["--format=custom", "--file=\(file)"] + DatabaseContents.transient.map { "--exclude-table-data=*.\($0)" })
    }

    /// Checks that a file can be read to its end.
    func check(_ file: String) throws { try run("pg_restore", ["--file=/dev/null", file]) }

    /// Puts the objects of a file into the database, all or none.
    func restore(_ file: String) throws {
        try run(
            "pg_restore",
            [
                "--dbname=\(variables["PGDATABASE"] ?? "")", "--single-transaction", "--exit-on-error", "--no-owner",
                "--no-privileges", file,
            ])
    }

    private func run(_ program: String, _ arguments: [String]) throws {
        let ending = try Program.run(program, arguments, variables: variables)
        guard ending.status == 0 else { throw Failure.refused("\(program): \(ending.lastLine)") }
    }
}
