internal import SignalingProtocol
internal import SignalingTokens

/// A library of Redis Functions that a connection keeps loaded.
///
/// The name of a library of ours and those of its functions end in the digest of its text, so that the versions of two
/// programs live side by side and neither calls the other's. Callers name functions without it: the connection adds it.
package struct RedisFunctionLibrary: Sendable {
    /// The library's name; equals the `name=` of the source's first line.
    package let name: String
    /// The Lua source.
    package let source: [UInt8]
    /// What the names of the functions end in; empty for a library without versions.
    let suffix: String
    /// The functions' names without that; empty for a library without versions.
    let functions: [String]

    /// Takes a library as it is: it replaces whatever the server has of that name.
    package init(name: String, source: [UInt8]) {
        self.name = name
        self.source = source
        suffix = ""
        functions = []
    }

    /// Joins a library of the cluster's own: the common prelude (`prelude.lua`), then its parts in their order. Parts
    /// register their functions by literal names.
    package init(name: String, parts: [[UInt8]]) {
        let text = String(decoding: parts.joined(), as: UTF8.self)
        let prelude = String(decoding: PackageResources.prelude_lua, as: UTF8.self)
        suffix = "_" + ContentDigest.sha256.text(of: "\(name)\n\(prelude)\(text)").prefix(8)
        self.name = name + suffix
        functions = text.matches(of: Self.registration).map { String($0.output.1) }
        // `register_function` is the prelude's, which adds the suffix.
        let versioned = text.replacing("redis.register_function", with: "register_function")
        source = Array("#!lua name=\(self.name)\nlocal VERSION = '\(suffix)'\n\(prelude)\(versioned)".utf8)
    }

    /// `register_function('NAME'`, or another function's that begins with `register`, or `function_name = 'NAME'`.
    private static var registration: Regex<(Substring, Substring)> {
        #/(?:register\w*\s*\(|function_name\s*=)\s*'(\w+)'/#
    }

    /// Gives the server the library. One that it has already is not read again: the error says so, see
    /// ``RedisError/isLibraryThere``.
    var load: RedisCommand {
        suffix.isEmpty
            ? RedisCommand("FUNCTION", "LOAD", "REPLACE", .bytes(source))
            : RedisCommand("FUNCTION", "LOAD", .bytes(source))
    }
}

/// How the functions of some libraries are called on the wire.
///
/// Asked for each call. A dictionary would hash the whole name each time, which takes more than all the rest of encoding a call.
package struct FunctionNames {
    private static let slotCount = 128
    /// The names of each slot with the first words of their calls, mostly one or none.
    private var slots: [[(name: String, head: [UInt8])]]

    /// The functions of these libraries; of other functions the name is taken as it is.
    package init(_ libraries: [RedisFunctionLibrary] = []) {
        slots = Array(repeating: [], count: Self.slotCount)
        for library in libraries {
            for name in library.functions {
                slots[Self.slot(of: name)].append((name, Self.head(name + library.suffix)))
            }
        }
    }

    /// The first two words of a call, in RESP.
    func head(of function: String) -> [UInt8] {
        for (name, head) in slots[Self.slot(of: function)] where name == function { return head }
        return Self.head(function)
    }

    private static func slot(of name: String) -> Int {
        let bytes = name.utf8
        return (bytes.count &* 29 &+ Int(bytes.last ?? 0)) & (slotCount - 1)
    }

    private static func head(_ name: String) -> [UInt8] {
        Array("$5\r\nFCALL\r\n$\(name.utf8.count)\r\n\(name)\r\n".utf8)
    }
}
