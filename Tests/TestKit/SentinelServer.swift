internal import Glibc
package import RedisClient

/// A Redis Sentinel of the test's own, on a free loopback port.
package actor SentinelServer {
    /// On 127.0.0.1.
    package nonisolated let port: Int
    private let process: SpawnedProcess
    private let log: String
    private nonisolated let url: String

    /// How the Sentinel connects to servers, and clients to it.
    package struct Access: Sendable {
        /// The servers' password; nil for none.
        package var password: String?
        /// The password of the Sentinels themselves; nil for none.
        package var ownPassword: String?
        /// A server that uses TLS, as the Sentinel then does too, with the same certificate; nil for no TLS.
        package var server: RedisServer?

        package init(password: String? = nil, ownPassword: String? = nil, tlsOf server: RedisServer? = nil) {
            self.password = password
            self.ownPassword = ownPassword
            self.server = server
        }

        /// The lines of the Sentinel's configuration.
        fileprivate func lines(name: String, port: Int) -> [String] {
            var lines: [String] = []
            if let password { lines.append("sentinel auth-pass \(name) \(password)") }
            if let ownPassword { lines += ["requirepass \(ownPassword)", "sentinel sentinel-pass \(ownPassword)"] }
            guard let server else { return lines + ["port \(port)"] }
            return lines + [
                "port 0", "tls-port \(port)", "tls-cert-file \(server.certificate)",
                "tls-key-file \(server.certificateKey)", "tls-ca-cert-file \(server.certificate)",
                "tls-auth-clients no", "tls-replication yes",
            ]
        }
    }

    /// Starts a Sentinel, without waiting for it.
    /// - Parameters:
    ///   - name: the name of the master that it watches.
    ///   - master: the master's port on 127.0.0.1.
    ///   - quorum: how many Sentinels must find the master dead.
    /// - Throws: ``TestFailure``.
    package init(name: String, master: Int, quorum: Int, access: Access = Access()) throws {
        var template = Array("/tmp/heliograph-sentinel-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template) else { throw TestFailure("mkdtemp: \(errno)") }
        let directory = String(cString: path)
        port = try RedisServer.freePort()
        log = "\(directory)/log"
        let lines = [
            "bind 127.0.0.1", "dir \(directory)", "protected-mode no",
            "sentinel monitor \(name) 127.0.0.1 \(master) \(quorum)",
            "sentinel down-after-milliseconds \(name) 2000", "sentinel failover-timeout \(name) 10000",
            "sentinel parallel-syncs \(name) 1",
        ]
        let credentials = access.ownPassword.map { ":\($0)@" } ?? ""
        let place = "\(credentials)127.0.0.1:\(port)"
        url = access.server.map { "rediss://\(place)?cacert=\($0.certificate)" } ?? "redis://\(place)"
        // A file of its own, which the Sentinel rewrites whenever it learns something.
        try Self.write(lines + access.lines(name: name, port: port), to: "\(directory)/sentinel.conf")
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
