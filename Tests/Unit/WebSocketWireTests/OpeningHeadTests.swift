import Testing

@testable import WebSocketWire

@Suite struct OpeningHeadTests {
    /// The example of RFC 6455, section 1.2, as a browser writes it.
    private static let fields = [
        "Host: server.example.com:8080", "Connection: keep-alive, Upgrade", "Pragma: no-cache",
        "User-Agent: Mozilla/5.0 (X11; Linux x86_64) \u{41}ppleWebKit/537.36", "Upgrade: websocket",
        "Origin: http://example.com", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits",
    ]
    private static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    private static func head(_ fields: [String] = fields, line: String = "GET / HTTP/1.1") -> [UInt8] {
        Array(([line] + fields).map { $0 + "\r\n" }.joined().utf8) + [13, 10]
    }

    private static func replacing(_ name: String, by fields: String...) -> [UInt8] {
        head(Self.fields.filter { !$0.hasPrefix(name + ":") } + fields)
    }

    private func read(_ bytes: [UInt8]) -> OpeningHead { OpeningHead(bytes.span) }

    @Test func aBrowsersHead() {
        let head = Self.head()
        let opening = OpeningHead.webSocket(accept: Self.accept, size: head.count)
        #expect(read(head) == opening)
        #expect(read(head + [0x81, 0x80]) == opening, "frames may follow")
        for count in 0..<head.count { #expect(read(Array(head[..<count])) == .incomplete) }
    }

    @Test func otherWaysToSayIt() {
        let heads = [
            Self.head(line: "GET /?vid=a&x=%20 HTTP/1.1"), Self.replacing("Host", by: "hOST:  x"),
            Self.replacing("Connection", by: "CONNECTION:upgrade"), Self.replacing("Upgrade", by: "upgrade: WebSocket"),
            Self.replacing("Origin"), Self.head(Self.fields + (0..<55).map { "X-\($0):" }),
        ]
        for head in heads { #expect(read(head) == .webSocket(accept: Self.accept, size: head.count)) }
    }

    private static let others: [[UInt8]] = [
        // Other requests.
        head(line: "POST / HTTP/1.1"), head(line: "GET /getaddr?vid=a HTTP/1.1"), head(line: "GET / HTTP/1.0"),
        head(line: "GET  / HTTP/1.1"), head(line: "GET / HTTP/1.1 "), head(line: "GET /? HTTP/1.1 HTTP/1.1"),
        head(line: "GET / HTTP/1.11"), head(line: "GET /?\u{7F} HTTP/1.1"), head(line: "GET /"),
        head(line: "get / HTTP/1.1"),
        // A field that is missing, comes twice or says something else.
        replacing("Host"), replacing("Connection"), replacing("Upgrade"), replacing("Sec-WebSocket-Version"),
        replacing("Sec-WebSocket-Key"), head(fields + ["Host: y"]), head(fields + ["Connection: Upgrade"]),
        head(fields + ["Upgrade: websocket"]), head(fields + ["Sec-WebSocket-Version: 13"]),
        head(fields + ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]), replacing("Host", by: "Host:"),
        replacing("Connection", by: "Connection: keep-alive"), replacing("Connection", by: "Connection: Upgrade2"),
        replacing("Upgrade", by: "Upgrade: h2c, websocket"), replacing("Upgrade", by: "Upgrade: websocket/1"),
        replacing("Sec-WebSocket-Version", by: "Sec-WebSocket-Version: 8"),
        replacing("Sec-WebSocket-Key", by: "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ="),
        // A body, or what could be one.
        head(fields + ["Content-Length: 0"]), head(fields + ["Transfer-Encoding: chunked"]),
        head(fields + ["Expect: 100-continue"]),
        // What readers of HTTP may differ about.
        head(fields + [" folded"]), head(fields + ["X : y"]), head(fields + [": y"]), head(fields + ["no colon"]),
        head(fields + ["X: \u{1}"]), head(fields + ["X: a\nHost: y"]), head(fields + ["X: a\rb"]),
        head(fields + ["X: \u{E9}"]), head(fields + ["X\u{E9}: y"]), head(fields + ["X: \t"]),
        head(fields + ["X: y "]), replacing("Sec-WebSocket-Key", by: "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ== "),
        Array("GET / HTTP/1.1\n\n".utf8), Array("\r\n".utf8) + head(), [0x16, 3, 1],
        // Too many fields.
        head(fields + (0..<56).map { "X-\($0):" }),
    ]

    @Test(arguments: others.indices) func everythingElseIsLeftToAWholeDecoder(_ index: Int) {
        #expect(read(Self.others[index]) == .other, "\(String(decoding: Self.others[index], as: UTF8.self))")
    }

    /// As soon as it is certain: a client that asks for something else is not to wait.
    @Test func othersNeedNotBeWhole() {
        for start in ["P", "GET /g", "GET /getaddr?vid=a HTTP/1.1\r\n", "\r", "GET  "] {
            #expect(read(Array(start.utf8)) == .other)
        }
        for start in ["", "G", "GET /", "GET / ", "GET /?"] { #expect(read(Array(start.utf8)) == .incomplete) }
    }

    /// Neither a head that never ends nor one that is too long is kept.
    @Test func theBound() {
        let room = OpeningHead.bound - Self.head(Self.fields + ["X: "]).count
        let longest = Self.head(Self.fields + ["X: " + String(repeating: "a", count: room)])
        #expect(longest.count == OpeningHead.bound)
        #expect(read(longest) == .webSocket(accept: Self.accept, size: longest.count))
        #expect(read(Self.head(Self.fields + ["X: " + String(repeating: "a", count: room + 1)])) == .other)
        let endless = Array("GET / HTTP/1.1\r\nX: ".utf8) + [UInt8](repeating: 97, count: OpeningHead.bound)
        #expect(read(Array(endless[..<(OpeningHead.bound - 1)])) == .incomplete)
        #expect(read(Array(endless[..<OpeningHead.bound])) == .other)
        let many = { Array("GET / HTTP/1.1\r\n".utf8) + Array(String(repeating: "A: a\r\n", count: $0).utf8) }
        #expect(read(many(64)) == .incomplete && read(many(65)) == .other)
    }
}
