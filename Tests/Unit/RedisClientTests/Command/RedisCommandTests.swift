import NIOCore
import Testing

@testable import RedisClient

@Suite struct RedisCommandTests {
    private func encoded(_ command: RedisCommand) -> String {
        var buffer = ByteBuffer()
        command.encode(into: &buffer)
        return String(buffer: buffer)
    }

    @Test func everyKindOfArgument() {
        let command = RedisCommand(
            "SET", "kéy", -12, .int(UInt32.max), .bytes([0x00, 0x0D, 0x0A]), .buffer(ByteBuffer(string: "")))
        #expect(
            encoded(command)
                == "*6\r\n$3\r\nSET\r\n$4\r\nkéy\r\n$3\r\n-12\r\n$10\r\n4294967295\r\n$3\r\n\0\r\n\r\n$0\r\n\r\n")
    }

    @Test func countsAndLengthsOfTwoDigits() {
        let command = RedisCommand("DEL", arguments: (0..<9).map { _ in "0123456789" })
        #expect(
            encoded(command) == "*10\r\n$3\r\nDEL\r\n" + String(repeating: "$10\r\n0123456789\r\n", count: 9))
        let long = String(repeating: "x", count: 1234)
        #expect(encoded(RedisCommand("GET", .string(long))) == "*2\r\n$3\r\nGET\r\n$1234\r\n\(long)\r\n")
    }

    @Test func functionCall() {
        let text = encoded(RedisCommand("FCALL", "open", 1, "{t}", "a", 1))
        #expect(encoded(.function("open", tag: "{t}", "a", 1)) == text)
        #expect(encoded(.function("open", keys: ["{t}"], arguments: ["a", 1])) == text)
        var command = RedisCommand.function("open", keys: 1, bytes: 0)
        command.append("{t}")
        command.append("a")
        command.append(1)
        #expect(encoded(command) == text)
        #expect(command.isFunctionCall && command.name == "open")
        #expect(!RedisCommand("PING").isFunctionCall && RedisCommand("PING").name == "PING")
    }

    @Test func countsOfThreeDigits() {
        for count in [99, 100, 1000] {
            let command = RedisCommand("DEL", arguments: (1..<count).map { _ in "x" })
            #expect(encoded(command).hasPrefix("*\(count)\r\n$3\r\nDEL\r\n$1\r\nx\r\n"))
        }
    }

    @Test func aFullRedisIsAskedForAVitalAppendByItsFunction() {
        var command = RedisCommand.vitalAppend(to: "mirror:x")
        for word: RedisArgument in ["*", "r", "change"] { command.append(word) }
        #expect(command.isVital)
        #expect(encoded(command) == encoded(RedisCommand("XADD", "mirror:x", "*", "r", "change")))
        #expect(
            encoded(command.inFullRedis)
                == encoded(RedisCommand("FCALL", "heliograph_append", 1, "mirror:x", "*", "r", "change")))
        #expect(!command.inFullRedis.isVital && !RedisCommand("XADD", "x").isVital)
        #expect(!command.inFullRedis.isDurable && command.durable.inFullRedis.isDurable)
    }

    @Test func estimateIsNotLess() {
        let command = RedisCommand(
            "XADD", "stream", -9_000_000_000_000_000_000, .bytes(Array(repeating: 1, count: 12_345)))
        var buffer = ByteBuffer()
        command.encode(into: &buffer)
        #expect(command.byteEstimate >= buffer.readableBytes)
        #expect(command.byteEstimate < buffer.readableBytes + 100)
    }
}
