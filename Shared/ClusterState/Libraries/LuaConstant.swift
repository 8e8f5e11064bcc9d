/// A constant shared by Swift and Lua, or by several libraries. It is written once, in Swift; each library that uses it
/// starts with `local NAME = value`.
package struct LuaConstant: Sendable {
    /// The name of the Lua local.
    let name: String
    /// The value as a Lua literal.
    let literal: String

    /// A whole number.
    package static func integer(_ name: String, _ value: some BinaryInteger) -> LuaConstant {
        LuaConstant(name: name, literal: String(value))
    }

    /// A text, which must not contain quotes, backslashes or line ends, because it is not escaped.
    package static func text(_ name: String, _ value: String) -> LuaConstant {
        LuaConstant(name: name, literal: quoted(value))
    }

    /// A Lua table with texts by name, as ``text(_:_:)``.
    package static func table(_ name: String, _ texts: [String: String]) -> LuaConstant {
        // Sorted, because the library's digest must be the same in every process.
        let entries = texts.sorted { $0.key < $1.key }.map { "\($0) = \(quoted($1))" }
        return LuaConstant(name: name, literal: "{\(entries.joined(separator: ", "))}")
    }

    /// A Lua table with `true` at each of the texts.
    package static func set(_ name: String, _ values: some Sequence<String>) -> LuaConstant {
        let entries = values.sorted().map { "['\($0)'] = true" }
        return LuaConstant(name: name, literal: "{\(entries.joined(separator: ", "))}")
    }

    private static func quoted(_ value: String) -> String {
        precondition(!value.contains { "'\\\n\r".contains($0) }, "\(value) cannot be a Lua literal")
        return "'\(value)'"
    }

    /// The line that declares the constant in a library.
    var line: String { "local \(name) = \(literal)\n" }
}
