internal import SignalingTokens

/// A library of Redis Functions that a connection keeps loaded.
///
/// The names of the cluster's own libraries, and of their functions, end in a digest of the source. So two releases run side by
/// side and neither calls the other's functions. Callers use the plain names: the connection adds the digest.
package struct RedisFunctionLibrary: Sendable {
    /// The library's name; equals the `name=` of the source's first line.
    package let name: String
    /// The Lua source.
    package let source: [UInt8]
    /// What the functions' names end in on the server; empty for a library without versions.
    package let suffix: String
    /// The functions' plain names; empty for a library without versions.
    package let functions: [String]

    /// Takes a library as it is: loading it replaces the one of that name.
    package init(name: String, source: [UInt8]) {
        self.name = name
        self.source = source
        suffix = ""
        functions = []
    }

    /// Joins a library of the cluster's own: constants, the common prelude (`prelude.lua`), then its parts in their order.
    /// Parts register their functions by literal names.
    /// - Parameter constants: of this library, besides those that all have.
    package init(name: String, constants: [LuaConstant] = [], parts: [[UInt8]]) {
        let text = String(decoding: parts.joined(), as: UTF8.self)
        let constants = (.common + constants).map(\.line).joined()
        let prelude = constants + String(decoding: PackageResources.prelude_lua, as: UTF8.self)
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
}
