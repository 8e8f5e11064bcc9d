internal import Glibc
package import RedisClient

/// A Redis Sentinel of the test's own, on a free loopback port.
package actor SentinelServer {
    /// On 127.0.0.1.
    package nonisolated let port: Int
    private let process: SpawnedProcess
    private let log: String
    private nonisolated let url: String

    /// Starts a Sentinel, without waiting for it.
    /// - Parameters:
    ///   - name: the name of the master that it watches.
    ///   - master: the master's port on 127.0.0.1.
    ///   - quorum: how many Sentinels must find the master dead.
    ///   - password: the servers'; default none.
    ///   - ownPassword: that of the Sentinels themselves; default none.
    ///   - server: a server that uses TLS, as the Sentinel then does too, with the same certificate; default none.
    /// - Throws: ``TestFailure``.
    package init(
        name: String, master: Int, quorum: Int, password: String? = nil, ownPassword: String? = nil,
        tlsOf server: RedisServer? = nil
    ) throws {
        var template = Array("/tmp/heliograph-sentinel-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template) else { throw TestFailure("mkdtemp: \(errno)") }
        let directory = String(cString: path)
        port = try RedisServer.freePort()
        log = "\(directory)/log"
        var lines = [
            "bind 127.0.0.1", "dir \(directory)", "protected-mode no",
            "sentinel monitor \(name) 127.0.0.1 \(master) \(quorum)",
            "sentinel down-after-milliseconds \(name) 2000", "sentinel failover-timeout \(name) 10000",
            "sentinel parallel-syncs \(name) 1",
        ]
        if let password { lines.append("sentinel auth-pass \(name) \(password)") }
        if let ownPassword { lines += ["requirepass \(ownPassword)", "sentinel sentinel-pass \(ownPassword)"] }
        if let server {
            lines += [
                "port 0", "tls-port \(port)", "tls-cert-file \(server.certificate)",
                "tls-key-file \(server.certificateKey)", "tls-ca-cert-file \(server.certificate)",
                "tls-auth-clients no", "tls-replication yes",
            ]
        } else {
            lines.append("port \(port)")
        }
        let credentials = ownPassword.map { ":\($0)@" } ?? ""
        let place = "\(credentials)127.0.0.1:\(port)"
        url = server.map { "rediss://\(place)?cacert=\($0.certificate)" } ?? "redis://\(place)"
        // A file of its own, which the Sentinel rewrites whenever it learns something.
        try Self.write(lines, to: "\(directory)/sentinel.conf")
        process = try SpawnedProcess(
            SpawnedProcess.supervised(
                ["redis-server", "\(directory)/sentinel.conf", "--sentinel"], directory: directory), output: log)
    }

    /// How to connect to it.
    package nonisolated var configuration: RedisConfiguration {
        get throws { try RedisConfiguration(url: url) }
    }

    /// Why it has ended; nil while it runs.
    package var failure: String? { process.exitStatus().map { "the Sentinel ended: \($0), see \(log)" } }

    /// Ends the Sentinel and deletes its files.
    /// - Throws: ``TestFailure``.
    package func remove() async throws {
        process.endInput()
        try await waitUntil("the end of the Sentinel on port \(port)") {
            process.exitStatus() == nil ? "still running" : nil
        }
    }

    private static func write(_ lines: [String], to path: String) throws {
        guard let file = fopen(path, "w") else { throw TestFailure("\(path): \(errno)") }
        defer { fclose(file) }
        guard fputs(lines.map { "\($0)\n" }.joined(), file) >= 0 else { throw TestFailure("\(path): \(errno)") }
    }
}
