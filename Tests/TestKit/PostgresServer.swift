internal import ClusterState
internal import Glibc
internal import Logging
package import PostgresStore

/// A real PostgreSQL of the test's own: in a temporary directory, on a free loopback port, without fsync.
package actor PostgresServer {
    private static let programs = "/usr/lib/postgresql/15/bin"
    private static let sharedServer = Task { try await PostgresServer() }

    /// The TCP port on 127.0.0.1.
    package nonisolated let port: UInt16
    private nonisolated let directory: String
    private var process: SpawnedProcess?
    private var databases = 0

    /// One server for all tests that do not stop it; it ends with the test process.
    package static var shared: PostgresServer { get async throws { try await sharedServer.value } }

    /// Makes a cluster and starts the server.
    /// - Throws: ``TestFailure``.
    package init() async throws {
        try self.init(atFreePort: ())
        try await Self.run(
            "initdb",
            [
                "-D", "\(directory)/data", "-U", "heliograph", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
                "--no-sync",
            ], in: directory)
        try await start()
    }

    /// Copies a running server, and starts the copy as a standby that follows it.
    /// - Throws: ``TestFailure``.
    package init(copying primary: PostgresServer) async throws {
        try self.init(atFreePort: ())
        try await Self.run(
            "pg_basebackup",
            ["-D", "\(directory)/data", "-d", primary.replicationSource, "-c", "fast", "--no-sync"], in: directory)
        try await start(as: .standby(of: primary))
    }

    private init(atFreePort _: Void) throws {
        var template = Array("/tmp/heliograph-postgres-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template) else { throw TestFailure("mkdtemp: \(errno)") }
        directory = String(cString: path)
        port = try Self.freePort()
        if getuid() == 0 {
            // PostgreSQL refuses to run as root.
            guard let user = getpwnam("postgres") else { throw TestFailure("there is no user postgres") }
            guard chown(directory, user.pointee.pw_uid, user.pointee.pw_gid) == 0 else {
                throw TestFailure("chown: \(errno)")
            }
        }
    }

    private static func run(_ program: String, _ arguments: [String], in directory: String) async throws {
        let process = try SpawnedProcess(
            unprivileged(["\(programs)/\(program)"] + arguments), output: "\(directory)/log")
        try await waitUntil(program, within: .seconds(60)) { process.exitStatus() == nil ? "still running" : nil }
        guard process.exitStatus() == 0 else { throw TestFailure("\(program) failed, see \(directory)/log") }
    }

    /// What a server is when it starts.
    package enum Role: Sendable {
        /// What it was when it was stopped.
        case unchanged
        /// It is in recovery, waiting for a primary that never comes.
        case orphan
        /// It is in recovery and follows `primary`.
        case standby(of: PostgresServer)
    }

    /// Starts the server again, on the same port, and waits until it answers.
    /// - Parameter role: what it is from then on.
    /// - Throws: ``TestFailure``.
    package func start(as role: Role = .unchanged) async throws {
        var arguments = [
            "\(Self.programs)/postgres", "-D", "\(directory)/data", "-p", "\(port)", "-k", directory,
            "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "full_page_writes=off",
            "-c", "shared_buffers=32MB", "-c", "max_connections=200",
        ]
        switch role {
        case .unchanged: break
        case .orphan: try signalStandby()
        case .standby(let primary):
            try signalStandby()
            arguments += [
                "-c", "primary_conninfo=\(primary.replicationSource) application_name=\(Self.standbyName)",
                "-c", "wal_retrieve_retry_interval=100ms",
            ]
        }
        let process = try SpawnedProcess(
            SpawnedProcess.supervised(Self.unprivileged(arguments), directory: directory), output: "\(directory)/log")
        self.process = process
        let pool = try open("postgres")
        try await waitUntil("PostgreSQL on port \(port)", within: .seconds(30)) {
            if let status = process.exitStatus() {
                throw TestFailure("postgres ended: \(status), see \(directory)/log")
            }
            do throws(PostgresError) { try await pool.ping() } catch { return error.description }
            return nil
        }
        await pool.close()
        if case .standby(let primary) = role { try await primary.waitUntilStreaming() }
    }

    /// Waits until a standby receives what is written here: it answers queries before that.
    private func waitUntilStreaming() async throws {
        try await waitUntil("the standby of port \(port)", within: .seconds(30)) {
            let streaming = try await self.query("SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'")
            return streaming.isEmpty ? "receives nothing" : nil
        }
    }

    /// The name by which a primary knows its standby, for `synchronous_standby_names`.
    package static let standbyName = "standby"

    /// How a standby finds this server.
    private nonisolated var replicationSource: String { "host=127.0.0.1 port=\(port) user=heliograph" }

    private func signalStandby() throws {
        guard let file = fopen("\(directory)/data/standby.signal", "w") else {
            throw TestFailure("standby.signal: \(errno)")
        }
        fclose(file)
    }

    /// Makes a standby the primary.
    /// - Throws: ``TestFailure``.
    package func promote() async throws { try await query("SELECT pg_promote()") }

    /// Changes a setting of the running server, for all its databases and connections.
    /// - Throws: ``TestFailure``.
    package func set(_ setting: String, to value: String) async throws {
        try await query("ALTER SYSTEM SET \(setting) = '\(value)'")
        try await query("SELECT pg_reload_conf()")
    }

    /// Runs a statement in the database `postgres`.
    /// - Throws: ``PostgresError``.
    @discardableResult
    package func query(_ sql: String) async throws -> PostgresRows {
        let pool = try open("postgres")
        let result: Result<PostgresRows, PostgresError>
        do throws(PostgresError) { result = .success(try await pool.query(sql)) } catch { result = .failure(error) }
        await pool.close()
        return try result.get()
    }

    private nonisolated func open(_ database: String) throws -> PostgresPool {
        PostgresPool(
            configuration: try PostgresConfiguration(url: url(database: database)), connections: 1,
            logger: Logger(label: "test"))
    }

    /// Kills all of the server's processes. Its data stay.
    /// - Throws: ``TestFailure``.
    package func kill() async throws {
        try signal(SIGKILL)
        try await stop()
    }

    /// Stops the server, even with open connections, and waits until it has ended. Its data stay.
    /// - Throws: ``TestFailure``.
    package func stop() async throws {
        guard let process else { return }
        process.endInput(keep: true)
        try await waitUntil("the end of PostgreSQL", within: .seconds(30)) {
            process.exitStatus() == nil ? "still running" : nil
        }
        self.process = nil
    }

    /// Freezes all of the server's processes, like a machine that hangs: connections stay open, nothing is answered.
    /// - Throws: ``TestFailure``.
    package nonisolated func freeze() throws { try signal(SIGSTOP) }

    /// Continues the frozen processes.
    /// - Throws: ``TestFailure``.
    package nonisolated func thaw() throws { try signal(SIGCONT) }

    private nonisolated func signal(_ number: Int32) throws {
        guard let text = Self.text(of: "\(directory)/data/postmaster.pid"),
            let main = text.split(separator: "\n").first.flatMap({ pid_t($0) })
        else { throw TestFailure("PostgreSQL does not run") }
        // The main process first: a stopped one starts no further child.
        Glibc.kill(main, number)
        guard let folder = opendir("/proc") else { throw TestFailure("opendir: \(errno)") }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let pid = pid_t(name), let stat = Self.text(of: "/proc/\(pid)/stat"),
                let rest = stat.split(separator: ")").last?.split(separator: " "), rest.count > 1,
                pid_t(rest[1]) == main
            else { continue }
            Glibc.kill(pid, number)
        }
    }

    private nonisolated static func text(of path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// Stops the server and deletes its files.
    /// - Throws: ``TestFailure``.
    package func remove() async throws {
        guard let process else {
            let rm = try SpawnedProcess(["rm", "-rf", directory], output: "/dev/null")
            return try await waitUntil("the files to be deleted") { rm.exitStatus() == nil ? "still running" : nil }
        }
        // A frozen process would not end.
        if process.exitStatus() == nil { try signal(SIGCONT) }
        process.endInput()
        try await waitUntil("the end of PostgreSQL", within: .seconds(30)) {
            process.exitStatus() == nil ? "still running" : nil
        }
        self.process = nil
    }

    /// Makes an empty database.
    /// - Returns: its URL.
    /// - Throws: ``PostgresError``.
    package func createDatabase() async throws -> String {
        databases += 1
        let name = "test\(databases)"
        try await query("CREATE DATABASE \(name)")
        return url(database: name)
    }

    /// A pool on a database of its own with all tables.
    /// - Throws: ``PostgresError``.
    package func migratedPool(connections: Int = 4) async throws -> PostgresPool {
        let configuration = try PostgresConfiguration(url: try await createDatabase())
        let pool = PostgresPool(configuration: configuration, connections: connections, logger: Logger(label: "test"))
        _ = try await Migrations(pool: pool, level: ClusterLevel.current).apply()
        return pool
    }

    private nonisolated func url(database: String) -> String {
        "postgresql://heliograph@127.0.0.1:\(port)/\(database)"
    }

    private static func unprivileged(_ arguments: [String]) -> [String] {
        guard getuid() == 0 else { return arguments }
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"] + arguments
    }

    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard result else { throw TestFailure("no free port: \(errno)") }
        return UInt16(bigEndian: address.sin_port)
    }
}
