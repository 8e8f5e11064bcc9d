internal import Glibc
internal import Logging
internal import NIOCore
internal import NIOPosix
package import RedisClient
internal import Synchronization

/// A real Redis of the test's own: in a temporary directory, on a free loopback port.
package actor RedisServer {
    /// The TCP port on 127.0.0.1; stays over restarts.
    package nonisolated let port: Int
    /// `redis://127.0.0.1:PORT`, with the password if there is one.
    package nonisolated let url: String
    /// The PEM files of its certificate, which is its own authority, and of the key; there only with TLS.
    nonisolated let certificate: String
    nonisolated let certificateKey: String
    private static let portsGiven = Atomic<Int>(0)
    private let directory: String
    private let arguments: [String]
    private var process: SpawnedProcess?
    private var serverPID: pid_t?

    /// The server's own process id while it runs.
    package var pid: Int32? { serverPID }

    /// Starts a server and waits until it answers.
    /// - Parameters:
    ///   - appendOnly: whether data outlive ``stop()`` and ``kill()``; default true.
    ///   - password: of the default user; default none.
    ///   - tls: whether it serves TLS only, with a certificate of its own making that ``url`` names; default false.
    ///   - other: a server whose certificate it has instead, so that one authority vouches for both; default none.
    ///   - options: further arguments of redis-server; default none.
    /// - Throws: ``TestFailure``.
    package init(
        appendOnly: Bool = true, password: String? = nil, tls: Bool = false, certificateOf other: RedisServer? = nil,
        options: [String] = []
    ) async throws {
        var template = Array("/tmp/heliograph-redis-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template) else { throw TestFailure("mkdtemp: \(errno)") }
        directory = String(cString: path)
        port = try Self.freePort()
        certificate = other?.certificate ?? "\(directory)/certificate.pem"
        certificateKey = other?.certificateKey ?? "\(directory)/key.pem"
        let credentials = password.map { ":\($0)@" } ?? ""
        url =
            tls
            ? "rediss://\(credentials)127.0.0.1:\(port)?cacert=\(certificate)"
            : "redis://\(credentials)127.0.0.1:\(port)"
        var arguments = [
            "redis-server", "--bind", "127.0.0.1", "--dir", directory, "--save", "", "--appendonly",
            appendOnly ? "yes" : "no", "--pidfile", "\(directory)/pid",
        ]
        // With `everysec`, Redis does not write to its file while a sync of the disk is under way, for up to 2 s: on a
        // busy disk, SIGKILL would lose what it has acknowledged. Nothing here has to survive a power failure.
        arguments += ["--appendfsync", "no"]
        if let password { arguments += ["--requirepass", password] }
        if tls {
            arguments += [
                "--port", "0", "--tls-port", "\(port)", "--tls-cert-file", certificate, "--tls-key-file",
                certificateKey, "--tls-ca-cert-file", certificate, "--tls-auth-clients", "no",
            ]
        } else {
            arguments += ["--port", "\(port)"]
        }
        self.arguments = arguments + options
        if tls, other == nil {
            try await Self.makeCertificate(certificate, key: certificateKey, output: "\(directory)/log")
        }
        try await start()
    }

    /// How to connect to it.
    package nonisolated var configuration: RedisConfiguration {
        get throws { try RedisConfiguration(url: url) }
    }

    /// Starts the server again, on the same port, and waits until it answers.
    /// - Throws: ``TestFailure``.
    package func start() async throws {
        let process = try SpawnedProcess(
            SpawnedProcess.supervised(arguments, directory: directory), output: "\(directory)/log")
        self.process = process
        let connection = RedisConnection(
            configuration: try configuration, eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        connection.start()
        try await waitUntil("Redis on port \(port)") {
            if let status = process.exitStatus() {
                throw TestFailure("redis-server ended: \(status), see \(directory)/log")
            }
            return connection.isConnected ? nil : "no connection; its log: \(self.log)"
        }
        let information = try await connection.execute(RedisCommand("INFO", "server")).string ?? ""
        await connection.close()
        let line = information.split(whereSeparator: \.isNewline).first { $0.hasPrefix("process_id:") }
        serverPID = line.flatMap { pid_t($0.dropFirst("process_id:".count)) }
    }

    /// Shuts the server down and waits for its end. Its port and, with `appendOnly`, its data stay.
    /// - Throws: ``TestFailure``.
    package func stop() async throws { try await end(signal: nil, keep: true) }

    /// Ends the server by SIGKILL and waits for its end. Its port and, with `appendOnly`, its data stay.
    /// - Throws: ``TestFailure``.
    package func kill() async throws { try await end(signal: SIGKILL, keep: true) }

    /// Stops the server and deletes its files.
    /// - Throws: ``TestFailure``.
    package func remove() async throws {
        guard process == nil else { return try await end(signal: nil, keep: false) }
        // It has ended before, and its files were kept.
        let removal = try SpawnedProcess(["rm", "-rf", directory], output: "/dev/null")
        try await waitUntil("the end of rm") { removal.exitStatus() == nil ? "still running" : nil }
    }

    /// Freezes or continues the process: while frozen, its connections look half-open to clients.
    package func freeze(_ frozen: Bool) {
        if let serverPID { Glibc.kill(serverPID, frozen ? SIGSTOP : SIGCONT) }
    }

    /// The end of the server's output.
    private var log: String {
        guard let file = fopen("\(directory)/log", "r") else { return "none" }
        defer { fclose(file) }
        fseek(file, 0, SEEK_END)
        fseek(file, max(0, ftell(file) - 400), SEEK_SET)
        var bytes = [UInt8](repeating: 0, count: 400)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    private func end(signal: Int32?, keep: Bool) async throws {
        guard let process else { return }
        if let signal, let serverPID { Glibc.kill(serverPID, signal) }
        process.endInput(keep: keep)
        try await waitUntil("the end of Redis on port \(port)") { process.exitStatus() == nil ? "still running" : nil }
        self.process = nil
        serverPID = nil
    }

    private static func makeCertificate(_ certificate: String, key: String, output: String) async throws {
        let openssl = try SpawnedProcess(
            [
                "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
            ], output: output)
        try await waitUntil("a certificate") { openssl.exitStatus() == nil ? "openssl runs" : nil }
        guard openssl.exitStatus() == 0 else { throw TestFailure("openssl failed, see \(output)") }
    }

    /// A port that no other server of this test process uses, below the range that the system gives to outgoing
    /// connections: either could take the port before the server binds it, or while the server is down.
    package static func freePort() throws -> Int {
        for _ in 0..<100 {
            let number = portsGiven.add(1, ordering: .relaxed).newValue
            let port = UInt16(12_000 + (Int(getpid()) * 331 + number) % 20_000)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            let isFree = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            if isFree { return Int(port) }
        }
        throw TestFailure("no free port: \(errno)")
    }
}
