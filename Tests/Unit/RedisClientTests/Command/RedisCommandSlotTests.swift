import ClusterState
import NIOCore
import Testing

@testable import RedisClient

@Suite struct RedisCommandSlotTests {
    private static func text(_ command: RedisCommand) -> String {
        var buffer = ByteBuffer()
        command.encode(into: &buffer)
        return String(buffer: buffer).replacing("\r\n", with: " ")
    }

    @Test func aFunctionCallHasTheSlotOfItsFirstKey() {
        let tag = "{user}"
        #expect(RedisCommand.function("f", tag: tag, "{other}").slot == KeySlot.of("user"))
        #expect(RedisCommand.function("f", keys: ["a", "b"], arguments: []).slot == KeySlot.of("a"))
        #expect(RedisCommand.function("f", tag: tag).inSlot(7).slot == 7)
        #expect(RedisCommand.function("f", keys: [], arguments: [1]).slot == nil)
    }

    @Test func otherCommandsMustNameTheirSlot() {
        #expect(RedisCommand("GET", "{user}").slot == nil)
        #expect(RedisCommand("GET", "{user}").inSlot(16_383).slot == 16_383)
        #expect(RedisCommand("GET", "x").inSlot(3).fenced == RedisCommand("GET", "x").inSlot(3))
    }

    @Test func aCommandMadeWithItsKeyHasTheSlotOfTheKey() {
        let command = RedisCommand("HGET", key: "{user}:box", "{other}")
        #expect(command.slot == KeySlot.of("user"))
        #expect(command.inSlot(7).slot == 7)
        #expect(Self.text(command) == Self.text(RedisCommand("HGET", "{user}:box", "{other}")))
        // To a single server they are the same.
        #expect(command == RedisCommand("HGET", "{user}:box", "{other}"))
        #expect(RedisCommand("DEL", key: "a", arguments: ["b"]) != RedisCommand("DEL", "a"))
        #expect(RedisCommand.vitalAppend(to: "{s}").slot == KeySlot.of("s"))
    }

    @Test func fence() {
        #expect(
            Self.text(RedisCommand.function("f", tag: "{äb}", "1", "").fenced)
                == "*7 $5 FCALL $1 f $1 2 $5 {äb} $6 {äb}! $1 1 $0  ")
        #expect(
            Self.text(RedisCommand.function("f", tag: "{t}").fenced) == "*5 $5 FCALL $1 f $1 2 $3 {t} $4 {t}! ")
        let keys = (0..<9).map { "k\($0)" }
        #expect(
            Self.text(RedisCommand.function("f", keys: keys, arguments: ["end"]).fenced)
                == "*14 $5 FCALL $1 f $2 10 " + keys.map { "$2 \($0) " }.joined() + "$3 k0! $3 end ")
    }

    /// The slot and the fence of the call that replaces an append at `maxmemory`.
    @Test func vitalAppend() {
        var append = RedisCommand.vitalAppend(to: "{s}x").inSlot(KeySlot.of("s"))
        append.append("*")
        #expect(append.inFullRedis.fenced.slot == KeySlot.of("s"))
        #expect(
            Self.text(append.inFullRedis.fenced)
                == "*6 $5 FCALL $17 heliograph_append $1 2 $4 {s}x $5 {s}x! $1 * ")
    }
}
