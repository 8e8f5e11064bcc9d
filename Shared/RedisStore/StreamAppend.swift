/// An entry for a stream, and the two ways to append it. Functions: `streams.lua`.
public struct StreamAppend {
    /// The library that a connection must keep loaded to send what is ``vital``.
    public static let library = RedisFunctionLibrary(name: "heliograph_streams", parts: [PackageResources.streams_lua])

    private let stream: String
    /// What follows the stream's name in XADD.
    private let words: [RedisArgument]

    init(to stream: String, _ words: [RedisArgument]) {
        self.stream = stream
        self.words = words
    }

    /// Refused (`OOM`) when Redis is at `maxmemory`.
    var plain: RedisCommand {
        var command = RedisCommand("XADD", .string(stream))
        for word in words { command.append(word) }
        return command
    }

    /// Never refused for want of memory: for what frees memory, keeps something alive, or tells of what is done already.
    /// Costs Redis 2 us more.
    var vital: RedisCommand { .function("heliograph_append", tag: stream, arguments: words) }
}
