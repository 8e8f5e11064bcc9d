internal import SignalingTokens

/// A library of Redis Functions that a connection keeps loaded.
///
/// The names of the cluster's own libraries and functions end in a digest of their source, so that two releases can run
/// side by side, each calling its own functions. Callers use the plain names; the connection adds the digest.
package struct RedisFunctionLibrary: Sendable {
    /// The library's name, as in the first line of the source (`name=`).
    package let name: String
    /// The Lua source.
    package let source: [UInt8]
    /// The ending of the functions' names on the server; empty for a library without versions.
    package let suffix: String
    /// The plain names of the functions; empty for a library without versions.
    package let functions: [String]
    /// From what the library was built; nil for a library without versions.
    private let contents: Contents?

    private struct Contents: Sendable {
        let name: String
        let constants: [LuaConstant]
        let parts: [[UInt8]]
    }

    /// Uses a library as it is, without versions: loading it replaces the library of that name.
    package init(name: String, source: [UInt8]) {
        self.name = name
        self.source = source
        suffix = ""
        functions = []
        contents = nil
    }

    /// Builds a library of the cluster: constants, what is particular to the flavour, the common prelude
    /// (`prelude.lua`), then the parts in order. The parts must register their functions with literal names.
    /// - Parameters:
    ///   - constants: the library's constants, in addition to those that all libraries have.
    ///   - flavour: the Redis that will run the functions; default a single one.
    package init(
        name: String, constants: [LuaConstant] = [], parts: [[UInt8]], flavour: RedisLayout.Flavour = .single
    ) {
        contents = Contents(name: name, constants: constants, parts: parts)
        let text = String(decoding: parts.joined(), as: UTF8.self)
        let lines = (.common + constants).map(\.line).joined()
        let start = [Self.flavourText(flavour), PackageResources.prelude_lua].joined()
        let prelude = lines + String(decoding: start, as: UTF8.self)
        suffix = "_" + ContentDigest.sha256.text(of: "\(name)\n\(prelude)\(text)").prefix(8)
        self.name = name + suffix
        functions = text.matches(of: Self.registration).map { String($0.output.1) }
        // Calls the prelude's `register_function`, which adds the digest.
        let versioned = text.replacing("redis.register_function", with: "register_function")
        source = Array("#!lua name=\(self.name)\nlocal VERSION = '\(suffix)'\n\(prelude)\(versioned)".utf8)
    }

    /// The same library for another flavour of Redis: its digest is another, because topics and the fence are. A
    /// library without versions is the same for all.
    package func of(_ flavour: RedisLayout.Flavour) -> RedisFunctionLibrary {
        guard let contents else { return self }
        return RedisFunctionLibrary(
            name: contents.name, constants: contents.constants, parts: contents.parts, flavour: flavour)
    }

    private static func flavourText(_ flavour: RedisLayout.Flavour) -> [UInt8] {
        switch flavour {
        case .single: PackageResources.flavour_single_lua
        case .cluster: PackageResources.flavour_cluster_lua
        }
    }

    /// Matches `register_function('NAME'`, a call of another function whose name begins with
    /// `register`, or `function_name = 'NAME'`.
    private static var registration: Regex<(Substring, Substring)> {
        #/(?:register\w*\s*\(|function_name\s*=)\s*'(\w+)'/#
    }
}
