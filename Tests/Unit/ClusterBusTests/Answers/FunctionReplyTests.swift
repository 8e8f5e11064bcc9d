import NIOCore
import SignalingProtocol
import Testing

@testable import ClusterBus
@testable import RedisClient

@Suite struct FunctionReplyTests {
    private static func bulk(_ text: String) -> RedisValue { .bulk(ByteBuffer(string: text)) }

    @Test func `elements are read in their order, numbers also from text`() throws {
        var reply = try FunctionReply(
            .array([
                Self.bulk("word"), .integer(7), Self.bulk("8"), .null, Self.bulk("9"), .integer(10), Self.bulk("x"),
            ]))
        #expect(try reply.text() == "word")
        #expect(try reply.int() == 7)
        #expect(try reply.uint32() == 8)
        #expect(try reply.text() == "")
        #expect(try reply.time() == RedisTime(milliseconds: 9))
        #expect(!reply.isEmpty)
        #expect(reply.remainingTexts == ["10", "x"])
        #expect(try reply.int64() == 10)
        #expect(try reply.bytes() == Array("x".utf8))
        #expect(reply.isEmpty)
        #expect(throws: SignalingError.unreadableAnswer) { try reply.text() }
    }

    @Test func `what is no list is unreadable`() {
        #expect(throws: SignalingError.unreadableAnswer) { try FunctionReply(.integer(1)) }
        #expect(throws: SignalingError.unreadableAnswer) { try FunctionReply(.null) }
    }

    @Test func `what is no number is unreadable`() throws {
        for value in [Self.bulk("x"), Self.bulk(""), .null, .array([])] {
            var reply = try FunctionReply(.array([value]))
            #expect(throws: SignalingError.unreadableAnswer) { try reply.int64() }
        }
        var reply = try FunctionReply(.array([.integer(-1)]))
        #expect(throws: SignalingError.unreadableAnswer) { try reply.uint32() }
    }
}
