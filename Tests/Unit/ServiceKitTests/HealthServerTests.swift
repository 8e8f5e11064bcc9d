import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testing

@testable import ServiceKit

@Suite("The health listener on a socket")
struct HealthServerTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Runs a listener while `body` runs.
    private func serving(_ body: (Int) async throws -> Void) async throws {
        var reader = EnvironmentReader(environment: [:])
        let configuration = ServiceConfiguration(service: "presence", reading: &reader)
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let responder = HealthResponder(configuration: configuration)
        let server = HealthServer(configuration: configuration, responder: responder, logger: logger) { port in
            continuation.yield(port)
            continuation.finish()
        }
        let group = ServiceGroup(configuration: ServiceGroupConfiguration(services: [server], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { continuation.finish() }
                try await group.run()
            }
            for await port in ports { try await body(port) }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    /// Sends text and returns all that the peer answers until it closes the connection.
    private func exchange(_ port: Int, _ text: String) async throws -> String {
        let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await client.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: text))
            var answer = ""
            for try await buffer in inbound { answer += String(buffer: buffer) }
            return answer
        }
    }

    @Test("GET, HEAD, other methods, and two requests on one connection", .timeLimit(.minutes(1)))
    func methods() async throws {
        try await serving { port in
            let two = try await exchange(
                port,
                "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /nope HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(two.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(two.contains("\r\nHTTP/1.1 404") || two.contains("\nHTTP/1.1 404"))
            let head = try await exchange(port, "HEAD /healthz HTTP/1.0\r\n\r\n")
            #expect(head.hasPrefix("HTTP/1.0 200") || head.hasPrefix("HTTP/1.1 200"))
            #expect(head.hasSuffix("\r\n\r\n"))
            let post = try await exchange(
                port, "POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc")
            #expect(post.hasPrefix("HTTP/1.1 405"))
            #expect(post.contains("\r\nAllow: GET, HEAD\r\n"))
        }
    }

    @Test("Bytes that are not HTTP close only their own connection", .timeLimit(.minutes(1)))
    func nonsense() async throws {
        try await serving { port in
            _ = try await exchange(port, "\u{0}\u{1}\u{2} nonsense\r\n\r\n")
            let after = try await exchange(port, "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(after.hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test("A head beyond the bound is refused while it arrives", .timeLimit(.minutes(1)))
    func largeHeads() async throws {
        try await serving { port in
            // None of them ends.
            for unfinished in [
                "X: " + String(repeating: "x", count: 9 * 1024),
                (1...5).map { "X\($0): " + String(repeating: "x", count: 4 * 1024) + "\r\n" }.joined(),
                (1...65).map { "X\($0): x\r\n" }.joined(),
            ] {
                let answer = try await exchange(port, "GET /healthz HTTP/1.1\r\n" + unfinished)
                #expect(answer.hasPrefix("HTTP/1.1 400 "))
            }
            let usual = (1...60).map { "X\($0): " + String(repeating: "x", count: 200) + "\r\n" }.joined()
            let answer = try await exchange(
                port, "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\(usual)\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test("A connection that says nothing does not keep others from being answered", .timeLimit(.minutes(1)))
    func severalConnections() async throws {
        try await serving { port in
            let silent = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: port).get()
            let answer = try await exchange(port, "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
            try await silent.close()
        }
    }
}
