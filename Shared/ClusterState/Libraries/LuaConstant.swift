/// A constant that Swift and Lua share, or several libraries: written once in Swift, and put at the head of each library that
/// uses it as `local NAME = value`.
package struct LuaConstant: Sendable {
    /// The local's name in Lua.
    let name: String
    /// The value, as Lua spells it.
    let literal: String

    /// A whole number.
    package static func integer(_ name: String, _ value: some BinaryInteger) -> LuaConstant {
        LuaConstant(name: name, literal: String(value))
    }

    /// A text without quotes, backslashes and line ends: none of ours has any.
    package static func text(_ name: String, _ value: String) -> LuaConstant {
        precondition(!value.contains { "'\\\n\r".contains($0) }, "\(name) cannot be a Lua literal")
        return LuaConstant(name: name, literal: "'\(value)'")
    }

    /// A table that is true at each of the texts.
    package static func set(_ name: String, _ values: some Sequence<String>) -> LuaConstant {
        let entries = values.sorted().map { "['\($0)'] = true" }
        return LuaConstant(name: name, literal: "{\(entries.joined(separator: ", "))}")
    }

    /// The line of the library's head.
    var line: String { "local \(name) = \(literal)\n" }
}
