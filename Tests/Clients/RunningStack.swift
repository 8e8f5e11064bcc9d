import Foundation
import SignalingClient
import SignalingProtocol
import SignalingTokens
import SignalingWire
import Synchronization
import TestKit
import Testing

/// A cluster of two gateways for the time of a suite, started with `Scripts/stack` from the release build.
struct RunningStack: Sendable {
    /// The cluster of the test that is running.
    @TaskLocal static var current: RunningStack?

    let directory: String
    let gateways: [GatewayEndpoint]
    let openApp: String
    let tokenApp: (id: String, certificate: String)

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// The flavour of Redis: the switch of all tests that run whole clusters (`Tests/Support/redis_flavour.py`).
    private static let redis = ProcessInfo.processInfo.environment["HELIOGRAPH_TEST_REDIS"] ?? "single"

    /// Starts a cluster. Tries three times, because the programs may be missing for a moment while they are rebuilt.
    static func up() async throws -> RunningStack {
        let directory = "/tmp/heliograph-clients-\(getpid())"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try await makeCertificate(directory)
        var failure = ""
        for _ in 1...3 {
            let (status, output) = try await run(["up", "--redis", redis, "--gateways", "2", "--dir", directory])
            if status == 0 { return try RunningStack(directory: directory) }
            failure = output
        }
        throw TestFailure("no stack (build first: make release): \(failure)")
    }

    func down() async throws {
        let (status, output) = try await Self.run(["down", "--dir", directory])
        guard status == 0 else { throw TestFailure("stack down: \(output)") }
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Ends a member with SIGKILL; ``start(_:)`` starts it again.
    func kill(_ member: String) async throws { _ = try await Self.run(["kill", member, "--dir", directory]) }

    func start(_ member: String) async throws {
        let (status, output) = try await Self.run(["start", member, "--dir", directory])
        guard status == 0 else { throw TestFailure("stack start \(member): \(output)") }
    }

    /// Makes a token for an account of the app that requires tokens.
    func token(for account: String, expiresIn seconds: Int = 3600) throws -> String {
        let expiry = Int64(Date().timeIntervalSince1970) + Int64(seconds)
        return SignalingToken.make(
            account: account, app: try AppID(tokenApp.id), certificate: tokenApp.certificate, expiry: expiry)
    }

    private init(directory: String) throws {
        self.directory = directory
        let text = try String(contentsOfFile: "\(directory)/endpoints.json", encoding: .utf8)
        let json = try JSONValue.parse(text.utf8)
        guard case .array(let listed)? = json["gateways"], case .array(let apps)? = json["apps"] else {
            throw TestFailure("endpoints.json has another shape")
        }
        gateways = try listed.map { gateway in
            guard let port = gateway["ws"]?.string.flatMap({ URL(string: $0)?.port }) else {
                throw TestFailure("a gateway without a port")
            }
            return GatewayEndpoint(host: "127.0.0.1", port: port)
        }
        openApp = apps.first { $0["tokenRequired"] == .bool(false) }?["appId"]?.string ?? ""
        let closed = apps.first { $0["tokenRequired"] == .bool(true) }
        tokenApp = (closed?["appId"]?.string ?? "", closed?["certificate"]?.string ?? "")
    }

    /// The path of the gateways' certificate, which is signed by itself.
    var certificate: String { "\(directory)/certificate.pem" }

    private static func makeCertificate(_ directory: String) async throws {
        let (status, output) = try await run(
            "/usr/bin/env",
            [
                "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "\(directory)/key.pem", "-out",
                "\(directory)/certificate.pem",
            ])
        guard status == 0 else { throw TestFailure("openssl: \(output)") }
    }

    private static func run(_ arguments: [String]) async throws -> (status: Int32, output: String) {
        let directory = arguments.last ?? ""
        return try await run(
            "\(root)/Scripts/stack", arguments,
            environment: [
                "HELIOGRAPH_GATEWAY_TLS_CERTIFICATE": "\(directory)/certificate.pem",
                "HELIOGRAPH_GATEWAY_TLS_KEY": "\(directory)/key.pem",
            ])
    }

    private static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        // The services inherit the output: a pipe would stay open as long as they run, a file needs no reader.
        let log = "/tmp/heliograph-clients-\(getpid()).log"
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        let file = try FileHandle(forWritingTo: URL(filePath: log))
        process.standardOutput = file
        process.standardError = file
        return try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { ended in
                let output = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
                try? FileManager.default.removeItem(atPath: log)
                continuation.resume(returning: (ended.terminationStatus, output))
            }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
    }
}

/// Runs a suite with a stack of its own.
struct RunningStackTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let stack = try await RunningStack.up()
        do {
            try await RunningStack.$current.withValue(stack) { try await function() }
        } catch {
            try await stack.down()
            throw error
        }
        try await stack.down()
    }
}

extension Trait where Self == RunningStackTrait {
    static var runningStack: RunningStackTrait { RunningStackTrait() }
}
