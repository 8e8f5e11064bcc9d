import NIOCore
import Testing

@testable import RedisClient

@Suite struct ReplyReaderTests {
    private static let wire =
        "+OK\r\n-SIG 400 not_member no\r\n:-42\r\n$-1\r\n*-1\r\n$0\r\n\r\n$4\r\na\r\nb\r\n*0\r\n"
        + "*3\r\n$1\r\na\r\n*2\r\n:1\r\n*1\r\n+deep\r\n$-1\r\n*2\r\n-ERR inside\r\n*0\r\n"
    private static let values: [RedisValue] = [
        .simple("OK"), .error(RedisError(code: .init(rawValue: "SIG"), message: "400 not_member no")), .integer(-42),
        .null, .null,
        .bulk(ByteBuffer()), .bulk(ByteBuffer(string: "a\r\nb")), .array([]),
        .array([.bulk(ByteBuffer(string: "a")), .array([.integer(1), .array([.simple("deep")])]), .null]),
        .array([.error(RedisError(code: .generic, message: "inside")), .array([])]),
    ]

    private func read(_ chunks: some Sequence<ByteBuffer>, bound: Int = 1 << 20) throws -> [RedisValue] {
        var values: [RedisValue] = []
        let builder = ReplyBuilder()
        builder.onReply = { values.append($0) }
        let reader = ReplyReader(builder: builder, maxReplyBytes: bound)
        for chunk in chunks { try reader.feed(chunk) }
        return values
    }

    @Test func wholeStream() throws {
        #expect(try read([ByteBuffer(string: Self.wire)]) == Self.values)
    }

    @Test func oneByteAtATime() throws {
        #expect(try read(Self.wire.utf8.map { ByteBuffer(bytes: [$0]) }) == Self.values)
    }

    @Test func largerThanASlice() throws {
        let text = String(repeating: "0123456789", count: 20_000)
        let many = String(repeating: ":7\r\n", count: 30_000)
        let values = try read([ByteBuffer(string: "$200000\r\n\(text)\r\n" + many)])
        #expect(values.count == 30_001)
        #expect(values.first?.string == text)
        #expect(values.dropFirst().allSatisfy { $0 == .integer(7) })
    }

    @Test func longList() throws {
        let values = try read([ByteBuffer(string: "*5000\r\n" + String(repeating: "$1\r\nx\r\n", count: 5000))])
        #expect(values.map { $0.array?.count } == [5000])
    }

    @Test(arguments: ["HTTP/1.1 400\r\n", "$abc\r\n", "*1\r\n?\r\n"])
    func garbage(_ text: String) {
        #expect { try read([ByteBuffer(string: text)]) } throws: { ($0 as? RedisError)?.code == .malformed }
    }

    @Test func boundOfAReply() {
        let text = "$100000\r\n" + String(repeating: "x", count: 90_000)
        #expect { try read([ByteBuffer(string: text)], bound: 50_000) } throws: { error in
            (error as? RedisError)?.message.contains("50000") == true
        }
    }

    @Test func deepNestingIsAnErrorNotACrash() {
        let text = String(repeating: "*1\r\n", count: 50) + ":1\r\n"
        #expect(throws: RedisError.self) { try read([ByteBuffer(string: text)]) }
    }
}
