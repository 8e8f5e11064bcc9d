import Glibc
import Testing

@testable import SIPBridgeLogic
@testable import SIPBridgeServer

/// Messages straight onto the socket.
@Suite("What the stack answers by itself", .timeLimit(.minutes(1)))
struct SIPScreeningTests {
    private struct Unreadable: Error { let path: String }

    private static func request(
        _ method: String, port: Int, branch: String, extra: String = "", to: String = "<sip:b@a.test>"
    ) -> [UInt8] {
        let lines = [
            "\(method) sip:b@127.0.0.1 SIP/2.0", "Via: SIP/2.0/UDP 127.0.0.1:\(port);branch=z9hG4bK\(branch)",
            "Max-Forwards: 70", "From: <sip:a@a.test>;tag=1", "To: \(to)", "Call-ID: \(branch)", "CSeq: 1 \(method)",
        ]
        return Array((lines.joined(separator: "\r\n") + "\r\n\(extra)Content-Length: 0\r\n\r\n").utf8)
    }

    /// A stack, and its port for a socket outside of its thread.
    private static func withStack(
        _ configuration: SIPStackConfiguration = SIPStackConfiguration(port: 0),
        _ body: @Sendable (isolated LoopThread, StackUnderTest) async throws -> Void
    ) async throws {
        try await LoopThread.shared.run { thread in
            let tested = try StackUnderTest(configuration, loop: thread.loop)
            defer { tested.stack.close() }
            try await body(thread, tested)
        }
    }

    /// Sends and receives away from the loop's thread.
    @concurrent
    private static func exchange(_ bytes: @Sendable (_ localPort: Int) -> [UInt8], port: Int) async throws -> String {
        let socket = try RawSocket()
        try socket.send(bytes(socket.port), to: port)
        return try socket.receive()
    }

    @Test(
        "Statuses",
        arguments: [
            ("OPTIONS", "", "200 OK"), ("REGISTER", "", "405 Method Not Allowed"), ("WALTZ", "", "501 Not Implemented"),
            ("CANCEL", "", "481 Call/Transaction Does Not Exist"),
            ("INVITE", "Require: 100rel, timer\r\n", "420 Bad Extension"),
            ("INVITE", "Max-Forwards: 70\r\n", "400 Repeated Header Field"),
            ("INVITE", "Content-Length: 0\r\n", "400 Repeated Header Field"),
        ])
    func status(method: String, extra: String, status: String) async throws {
        try await Self.withStack { _, tested in
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

    @Test("A stack on all addresses answers on each, and names one of them, or the public one")
    func wildcard() async throws {
        let configuration = SIPStackConfiguration(host: "0.0.0.0", port: 0)
        try await Self.withStack(configuration) { _, tested in
            let answer = try await Self.exchange(
                { Self.request("OPTIONS", port: $0, branch: "w1") }, port: tested.stack.port)
            #expect(answer.hasPrefix("SIP/2.0 200 OK\r\n"))
            #expect(!["", "0.0.0.0"].contains(tested.stack.contactHost))
        }
        var named = configuration
        named.publicHost = "2001:db8::1"
        try await Self.withStack(named) { _, tested in
            let contact = tested.stack.contact(user: "u", transport: .tcp).value
            #expect(contact == "<sip:u@[2001:db8::1]:\(tested.stack.port);transport=tcp>")
        }
    }

    @Test("A retransmission is no new request; it gets the last answer again")
    func retransmission() async throws {
        try await Self.withStack { _, tested in
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

    @Test("An address that asks too much is not answered")
    func flood() async throws {
        let configuration = SIPStackConfiguration(port: 0, optionsPerSecond: 0.001, optionsBurst: 1)
        try await Self.withStack(configuration) { _, tested in
            let port = tested.stack.port
            _ = try await Self.exchange({ Self.request("OPTIONS", port: $0, branch: "f1") }, port: port)
            try RawSocket().send(Self.request("OPTIONS", port: 9, branch: "f2"), to: port)
            #expect(await tested.drops.next() == .tooManyOptions)
        }
    }

    @Test("Datagrams that are no SIP are counted, once a message has come")
    func garbage() async throws {
        try await Self.withStack { _, tested in
            let port = tested.stack.port
            _ = try await Self.exchange({ Self.request("OPTIONS", port: $0, branch: "g1") }, port: port)
            try RawSocket().send(Array("GET / HTTP/1.1\r\n\r\n".utf8), to: port)
            #expect(await tested.drops.next() == .garbage)
        }
    }

    @Test("No answer is sent to a third place")
    func maddr() async throws {
        try await Self.withStack { _, tested in
            let text = String(decoding: Self.request("OPTIONS", port: 9, branch: "m1"), as: UTF8.self)
                .replacing(";branch", with: ";maddr=127.0.0.2;branch")
            try RawSocket().send(Array(text.utf8), to: tested.stack.port)
            #expect(await tested.drops.next() == .malformed)
        }
    }

    /// The messages of RFC 4475 with the status that they get here; 0: none, whether libre or the screening drops them; 1:
    /// passed on. libre drops what has no branch in its Via, as in RFC 2543, and what has no URI of ours in To or From.
    static let expected: [(String, Int)] = [
        // Section 3.1.1: valid, however odd.
        ("wsinv", 1), ("intmeth", 501), ("esc01", 1), ("escnull", 405), ("esc02", 501), ("lwsdisp", 200),
        ("longreq", 0), ("dblreq", 405), ("semiuri", 200), ("transports", 200), ("mpart01", 405), ("unreason", 0),
        ("noreason", 0),
        // Section 3.1.2: invalid.
        ("badinv01", 0), ("clerr", 400), ("ncl", 400), ("scalar02", 400), ("scalarlg", 0), ("quotbal", 400),
        ("ltgtruri", 0), ("lwsruri", 0), ("lwsstart", 0), ("trws", 0), ("escruri", 1), ("baddate", 1),
        ("regbadct", 405), ("badaspec", 400), ("baddn", 200), ("badvers", 0), ("mismatch01", 400), ("mismatch02", 400),
        ("bigcode", 0),
        // Sections 3.2 to 3.4: transactions, applications, compatibility.
        ("badbranch", 200), ("insuf", 400), ("unkscm", 416), ("novelsc", 416), ("unksm2", 0), ("bext01", 420),
        ("invut", 1), ("regaut01", 405), ("multi01", 400), ("mcl01", 400), ("bcast", 0), ("zeromf", 200),
        ("cparam01", 405), ("cparam02", 405), ("regescrt", 405), ("sdp01", 1), ("inv2543", 0),
    ]

    @Test("The messages of RFC 4475 neither crash nor block: an OPTIONS after each is answered", arguments: expected)
    func torture(name: String, outcome: Int) async throws {
        let bytes = try Self.load(name)
        try await Self.withStack { _, tested in
            tested.stack.tracesAll = true
            let port = tested.stack.port
            try RawSocket().send(bytes, to: port)
            let answer = try await Self.exchange(
                { Self.request("OPTIONS", port: $0, branch: "after-\(name)") }, port: port)
            #expect(answer.hasPrefix("SIP/2.0 200 OK\r\n"))
            var status = tested.requests.isEmpty ? 0 : 1
            while !tested.traces.isEmpty {
                let record = await tested.traces.next()
                if record.isSent, record.callID != "after-\(name)" {
                    status = Int(record.text.split(separator: " ")[1]) ?? 0
                }
            }
            #expect(status == outcome)
        }
    }

    @Test("Cut off or with any byte changed, none crashes", arguments: expected.map(\.0))
    func mutations(name: String) async throws {
        let bytes = try Self.load(name)
        let configuration = SIPStackConfiguration(port: 0, optionsPerSecond: 1e6, optionsBurst: 1e6)
        try await Self.withStack(configuration) { _, tested in
            let port = tested.stack.port
            let answer = try await Self.mutate(bytes, port: port)
            #expect(answer.hasPrefix("SIP/2.0 200 OK\r\n"))
        }
    }

    /// Sends every variant; a request that is answered after some of them shows that those were read.
    @concurrent
    private static func mutate(_ bytes: [UInt8], port: Int) async throws -> String {
        let socket = try RawSocket()
        var answer = ""
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x20
            try socket.send(changed, to: port)
            if index % 7 == 0 { try socket.send(Array(bytes[..<index]), to: port) }
            guard index % 20 == 0 || index == bytes.count - 1 else { continue }
            let branch = "check\(index)"
            try socket.send(request("OPTIONS", port: socket.port, branch: branch), to: port)
            repeat { answer = try socket.receive() } while !answer.contains(branch)
        }
        return answer
    }

    private static func load(_ name: String) throws -> [UInt8] {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
        let path = "\(root)/Fixtures/rfc4475/\(name).dat"
        guard let file = fopen(path, "rb") else { throw Unreadable(path: path) }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes[..<count])
    }
}
