internal import RedisClient

/// Appends to streams whose entries must stay in order; where order does not matter, ``RedisCommand/vitalAppend(to:)``
/// is cheaper. For vital entries a connection must keep ``RedisFunctionLibrary/streams`` loaded.
package enum StreamAppend {
    /// The start of a command that appends to a stream. The caller appends the words that
    /// follow the stream's name in XADD.
    /// - Parameter isVital: whether the entry is accepted even at `maxmemory`, at a cost of 2 us more in
    ///   Redis: for entries that free memory, keep something alive, or report what has already happened.
    ///   Others are refused there (`OOM`).
    static func command(to stream: String, isVital: Bool) -> RedisCommand {
        guard isVital else { return RedisCommand("XADD", key: stream) }
        var command = RedisCommand.function("heliograph_append", keys: 1, bytes: 256)
        command.append(stream)
        return command
    }
}
