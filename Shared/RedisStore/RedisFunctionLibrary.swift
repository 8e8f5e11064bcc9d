/// A library of Redis Functions that a connection keeps loaded.
public struct RedisFunctionLibrary: Sendable {
    /// The library's name; equals the `name=` of the source's first line.
    public let name: String
    /// The Lua source.
    public let source: [UInt8]

    /// Takes a library, usually of an embedded resource.
    public init(name: String, source: [UInt8]) {
        self.name = name
        self.source = source
    }

    /// Replaces whatever version the server has.
    /// Joins a library of the cluster's own: the common prelude (`prelude.lua`), then its parts in their order.
    public init(name: String, parts: [[UInt8]]) {
        self.init(
            name: name, source: Array("#!lua name=\(name)\n".utf8) + ([PackageResources.prelude_lua] + parts).joined())
    }

    var load: RedisCommand { RedisCommand("FUNCTION", "LOAD", "REPLACE", .bytes(source)) }
}
