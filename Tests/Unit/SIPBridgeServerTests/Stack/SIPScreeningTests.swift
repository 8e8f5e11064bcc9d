import Glibc
import SignalingProtocol
import Testing

@testable import SIPBridgeLogic
@testable import SIPBridgeServer

/// Sends raw messages to the stack's socket.
@Suite("Requests that the stack answers by itself", .timeLimit(.minutes(1)))
struct SIPScreeningTests {
    private static func request(
        _ method: String, port: Int, branch: String, extra: String = "", to: String = "<sip:b@a.test>"
    ) -> [UInt8] {
        let lines = [
            "\(method) sip:b@127.0.0.1 SIP/2.0", "Via: SIP/2.0/UDP 127.0.0.1:\(port);branch=z9hG4bK\(branch)",
            "Max-Forwards: 70", "From: <sip:a@a.test>;tag=1", "To: \(to)", "Call-ID: \(branch)", "CSeq: 1 \(method)",
        ]
        return Array((lines.joined(separator: "\r\n") + "\r\n\(extra)Content-Length: 0\r\n\r\n").utf8)
    }

    /// Runs a test with one stack.
    @SIPThread
    private static func withStack(
        _ configuration: SIPStackConfiguration = SIPStackConfiguration(port: 0),
        _ body: @SIPThread (StackUnderTest) async throws -> Void
    ) async throws {
        let tested = try StackUnderTest(configuration)
        defer { tested.stack.close() }
        try await body(tested)
    }

    /// Sends and receives outside the SIP thread, which the blocking socket would stop.
    @concurrent
    private static func exchange(_ bytes: @Sendable (_ localPort: Int) -> [UInt8], port: Int) async throws -> String {
        let socket = try RawSocket()
        try socket.send(bytes(socket.port), to: port)
        return try socket.receive()
    }

    @Test(
        "The status that each request is answered with",
        arguments: [
            ("OPTIONS", "", "200 OK"), ("REGISTER", "", "405 Method Not Allowed"), ("WALTZ", "", "501 Not Implemented"),
            ("CANCEL", "", "481 Call/Transaction Does Not Exist"),
            ("INVITE", "Require: 100rel, timer\r\n", "420 Bad Extension"),
            ("INVITE", "Max-Forwards: 70\r\n", "400 Repeated Header Field"),
            ("INVITE", "Content-Length: 0\r\n", "400 Repeated Header Field"),
        ])
    func status(method: String, extra: String, status: String) async throws {
        try await Self.withStack { tested in
            let answer = try await Self.exchange(
                { Self.request(method, port: $0, branch: "s1", extra: extra) }, port: tested.stack.port)
            #expect(answer.hasPrefix("SIP/2.0 \(status)\r\n"), "\(answer)")
            if method == "OPTIONS" {
                #expect(answer.contains("\r\nAllow: INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE\r\n"))
                #expect(answer.contains("\r\nSupported: timer\r\n"))
                #expect(answer.contains("\r\nAccept: application/sdp, "))
            }
            if status.hasPrefix("405") { #expect(answer.contains("\r\nAllow: INVITE, ")) }
            if status.hasPrefix("420") { #expect(answer.contains("\r\nUnsupported: 100rel\r\n")) }
            #expect(tested.requests.isEmpty)
        }
    }

    @Test("A stack bound to all addresses answers on each; its Contact names one of them, or the public address")
    func wildcard() async throws {
        let configuration = SIPStackConfiguration(host: "0.0.0.0", port: 0)
        try await Self.withStack(configuration) { tested in
            let answer = try await Self.exchange(
                { Self.request("OPTIONS", port: $0, branch: "w1") }, port: tested.stack.port)
            #expect(answer.hasPrefix("SIP/2.0 200 OK\r\n"))
            #expect(!["", "0.0.0.0"].contains(tested.stack.contactHost))
        }
        var named = configuration
        named.publicHost = "2001:db8::1"
        try await Self.withStack(named) { tested in
            let contact = tested.stack.contact(user: "u", transport: .tcp).value
            #expect(contact == "<sip:u@[2001:db8::1]:\(tested.stack.port);transport=tcp>")
        }
    }

    @Test("A retransmitted request is not reported again; its last response is repeated")
    func retransmission() async throws {
        try await Self.withStack { tested in
            let port = tested.stack.port
            async let answers = Self.twice({ Self.request("INVITE", port: $0, branch: "r1") }, port: port)
            let invite = await tested.requests.next()
            try invite.reply(180)
            let (first, second) = try await answers
            #expect(first.hasPrefix("SIP/2.0 180 Ringing"))
            #expect(second == first)
            #expect(tested.requests.isEmpty)
            try invite.reply(486)
        }
    }

    @concurrent
    private static func twice(
        _ bytes: @Sendable (_ localPort: Int) -> [UInt8], port: Int
    ) async throws -> (String, String) {
        let socket = try RawSocket()
        try socket.send(bytes(socket.port), to: port)
        let first = try socket.receive()
        try socket.send(bytes(socket.port), to: port)
        return (first, try socket.receive())
    }

    @Test("An address above its rate is not answered")
    func flood() async throws {
        let configuration = SIPStackConfiguration(port: 0, optionsPerSecond: 0, optionsBurst: 1)
        try await Self.withStack(configuration) { tested in
            let port = tested.stack.port
            _ = try await Self.exchange({ Self.request("OPTIONS", port: $0, branch: "f1") }, port: port)
            try RawSocket().send(Self.request("OPTIONS", port: 9, branch: "f2"), to: port)
            #expect(await tested.drops.next() == .tooManyOptions)
        }
    }

    @Test("A datagram that is not SIP is counted as garbage")
    func garbage() async throws {
        try await Self.withStack { tested in
            let port = tested.stack.port
            _ = try await Self.exchange({ Self.request("OPTIONS", port: $0, branch: "g1") }, port: port)
            try RawSocket().send(Array("GET / HTTP/1.1\r\n\r\n".utf8), to: port)
            #expect(await tested.drops.next() == .garbage)
        }
    }

    @Test("A request whose Via names another address by maddr is dropped")
    func maddr() async throws {
        try await Self.withStack { tested in
            let text = String(decoding: Self.request("OPTIONS", port: 9, branch: "m1"), as: UTF8.self)
                .replacing(";branch", with: ";maddr=127.0.0.2;branch")
            try RawSocket().send(Array(text.utf8), to: tested.stack.port)
            #expect(await tested.drops.next() == .malformed)
        }
    }

    @Test(
        "After each torture message an OPTIONS is still answered",
        arguments: TortureMessage.all)
    func torture(message: TortureMessage) async throws {
        try await Self.withStack { tested in
            tested.stack.tracesAll = true
            let port = tested.stack.port
            let socket = try RawSocket()
            try socket.send(message.bytes(port: socket.port), to: port)
            let answer = try await Self.exchange(
                { Self.request("OPTIONS", port: $0, branch: "after-\(message)") }, port: port)
            #expect(answer.hasPrefix("SIP/2.0 200 OK\r\n"))
            var outcome = tested.requests.isEmpty ? "ignored" : "accepted"
            while !tested.traces.isEmpty {
                let record = await tested.traces.next()
                if record.isSent, record.callID != "after-\(message)" {
                    outcome = String(record.text.split(separator: " ")[1])
                }
            }
            #expect(outcome == message.outcome)
        }
    }

    @Test("No truncated or altered torture message crashes the stack", arguments: TortureMessage.all)
    func mutations(message: TortureMessage) async throws {
        let configuration = SIPStackConfiguration(port: 0, optionsPerSecond: 1_000_000, optionsBurst: 1_000_000)
        try await Self.withStack(configuration) { tested in
            let port = tested.stack.port
            // Long messages consist mostly of repeated bytes, so only some of their bytes are changed.
            let answer = try await Self.mutate(
                message.bytes(port: 9), stride: message.bytes(port: 9).count / 800 + 1, port: port)
            #expect(answer.hasPrefix("SIP/2.0 200 OK\r\n"))
        }
    }

    /// Sends every mutation, with a request that is answered after some of them: its answer shows that they were read.
    @concurrent
    private static func mutate(_ bytes: [UInt8], stride step: Int, port: Int) async throws -> String {
        let socket = try RawSocket()
        var answer = ""
        for index in stride(from: 0, to: bytes.count, by: step) {
            var changed = bytes
            changed[index] ^= 0x20
            try socket.send(changed, to: port)
            if index % 7 == 0 { try socket.send(Array(bytes[..<index]), to: port) }
            guard index % 20 == 0 || index + step >= bytes.count else { continue }
            let branch = "check\(index)"
            try socket.send(request("OPTIONS", port: socket.port, branch: branch), to: port)
            repeat { answer = try socket.receive() } while !answer.contains(branch)
        }
        return answer
    }
}
