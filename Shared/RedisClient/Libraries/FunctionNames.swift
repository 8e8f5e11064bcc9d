package import ClusterState

/// Maps functions' plain names to the encoded start of their calls, with the digest that the names have on the server.
///
/// Looked up for every call. A dictionary would hash the whole name each time, which takes longer
/// than the rest of encoding a call.
package struct FunctionNames {
    private static let slotCount = 128
    /// A small hash table: the names of each slot with the encoded first words of their calls; mostly one name or none.
    private var slots: [[(name: String, head: [UInt8])]]

    /// Knows the functions of these libraries; any other name is used as it is.
    package init(_ libraries: [RedisFunctionLibrary] = []) {
        slots = Array(repeating: [], count: Self.slotCount)
        for library in libraries {
            for name in library.functions {
                slots[Self.slot(of: name)].append((name, Self.head(name + library.suffix)))
            }
        }
    }

    /// The first two words of a call (FCALL and the function's name), in RESP.
    func head(of function: String) -> [UInt8] {
        for (name, head) in slots[Self.slot(of: function)] where name == function { return head }
        return Self.head(function)
    }

    private static func slot(of name: String) -> Int {
        let bytes = name.utf8Span.span
        let last = bytes.isEmpty ? 0 : bytes[bytes.count - 1]
        return (bytes.count &* 29 &+ Int(last)) & (slotCount - 1)
    }

    private static func head(_ name: String) -> [UInt8] {
        Array("$5\r\nFCALL\r\n$\(name.utf8.count)\r\n\(name)\r\n".utf8)
    }
}

extension RedisFunctionLibrary {
    /// The command that loads the library. The server refuses a versioned library that it has already, without parsing
    /// the source; see ``RedisError/isLibraryThere``.
    var load: RedisCommand {
        suffix.isEmpty
            ? RedisCommand("FUNCTION", "LOAD", "REPLACE", .bytes(source))
            : RedisCommand("FUNCTION", "LOAD", .bytes(source))
    }
}
