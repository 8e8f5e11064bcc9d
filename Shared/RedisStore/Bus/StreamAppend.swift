/// How a stream is appended to where the order of its entries counts; ``RedisCommand/vitalAppend(to:)`` is for where it
/// does not. To append what is vital, a connection must keep ``RedisFunctionLibrary/streams`` loaded.
package enum StreamAppend {
    /// The start of a command that appends to a stream; the words that follow the stream's name in XADD are to be appended.
    /// - Parameter isVital: never refused for want of memory, for 2 us more of Redis: for what frees memory, keeps something
    ///   alive, or tells of what is done already. Others are refused (`OOM`) when Redis is at `maxmemory`.
    static func command(to stream: String, isVital: Bool) -> RedisCommand {
        guard isVital else { return RedisCommand("XADD", .string(stream)) }
        var command = RedisCommand.function("heliograph_append", keys: 1, bytes: 256)
        command.append(stream)
        return command
    }
}
