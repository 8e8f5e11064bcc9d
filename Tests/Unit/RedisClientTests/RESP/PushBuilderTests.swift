import NIOCore
import Testing

@testable import RedisClient

@Suite struct PushBuilderTests {
    private static let wire =
        "+OK\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$2\r\nhi\r\n"
        + "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$0\r\n\r\n*3\r\n$7\r\nmessage\r\n$2\r\nbb\r\n$7\r\nmessage\r\n"
        + "*2\r\n$4\r\npong\r\n$0\r\n\r\n*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:0\r\n-ERR no\r\n"

    private func read(_ chunks: some Sequence<ByteBuffer>) throws -> [String] {
        var seen: [String] = []
        let builder = PushBuilder()
        builder.onReply = { seen.append("reply \($0)") }
        builder.onMessage = { seen.append("message \($0) [\(String(buffer: $1))]") }
        builder.onConfirmation = { seen.append("\($1 ? "subscribed" : "unsubscribed") \($0)") }
        let reader = ReplyReader(builder: builder, maxReplyBytes: 1 << 20)
        for chunk in chunks { try reader.feed(chunk) }
        return seen
    }

    @Test func wholeAndOneByteAtATime() throws {
        let expected = [
            "reply \(RedisValue.simple("OK"))", "subscribed a", "message a [hi]", "message a []",
            "message bb [message]",
            "unsubscribed a", "reply \(RedisValue.error(RedisError(code: .generic, message: "no")))",
        ]
        #expect(try read([ByteBuffer(string: Self.wire)]) == expected)
        #expect(try read(Self.wire.utf8.map { ByteBuffer(bytes: [$0]) }) == expected)
    }

    /// The messages of a cluster's topics.
    @Test func shardedTopics() throws {
        let wire =
            "*3\r\n$10\r\nssubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$8\r\nsmessage\r\n$1\r\na\r\n$2\r\nhi\r\n"
            + "*3\r\n$12\r\nsunsubscribe\r\n$1\r\na\r\n:0\r\n"
        #expect(try read([ByteBuffer(string: wire)]) == ["subscribed a", "message a [hi]", "unsubscribed a"])
    }
}
