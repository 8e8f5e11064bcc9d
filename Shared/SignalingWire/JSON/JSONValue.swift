/// A JSON value. Objects keep the order of their members, numbers their text.
package enum JSONValue: Equatable, Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number's text, unchanged.
    case number(String)
    /// A string, with its escapes resolved.
    case string(String)
    /// A list.
    case array([JSONValue])
    /// An object's members, in order.
    case object([JSONMember])

    /// A member's value; of members with the same name the last, as in most parsers. Nil for other values and missing
    /// names.
    package subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// The value as compact JSON.
    package var compactText: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the value as compact JSON.
    package func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let text): bytes.append(contentsOf: text.utf8)
        case .string(let text): JSONText.append(text, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                JSONText.append(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// The text of a string, nil for other values.
    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// A string as it is; any other value as compact JSON (`Docs/protocol.md`).
    package var textOrCompact: String { string ?? compactText }

    /// The text of a string or a number; nil for other values, which cannot be a name.
    var nameText: String? {
        switch self {
        case .string(let text), .number(let text): text
        case .null, .bool, .array, .object: nil
        }
    }

    /// The member's ``nameText``; nil when it is missing.
    func text(_ name: String) -> String? { self[name]?.nameText }

    /// A whole number, also when written as a string or with an empty fraction; nil for other values.
    package var integer: Int64? {
        guard let text = nameText else { return nil }
        return Int64(text) ?? Double(text).flatMap { Int64(exactly: $0) }
    }

    /// Whether the value is `true` or a number other than 0.
    package var isTrue: Bool {
        switch self {
        case .bool(let value): value
        case .number(let text): Double(text) != 0
        case .null, .string, .array, .object: false
        }
    }
}

/// A member of a JSON object.
package struct JSONMember: Equatable, Sendable {
    /// The member's name.
    package var name: String
    /// The member's value.
    package var value: JSONValue

    /// Creates a member.
    package init(name: String, value: JSONValue) {
        self.name = name
        self.value = value
    }

    /// Creates a member.
    package init(_ name: String, _ value: JSONValue) { self.init(name: name, value: value) }

    /// Creates a member with a text; without one, it is `null`.
    package init(_ name: String, _ text: String?) { self.init(name: name, value: text.map { .string($0) } ?? .null) }

    /// Creates a member with a whole number; without one, it is `null`.
    package init(_ name: String, _ number: (some BinaryInteger)?) {
        self.init(name: name, value: number.map { .number(String($0)) } ?? .null)
    }

    /// Creates a member that is `true` or `false`; without a value, it is `null`.
    package init(_ name: String, _ flag: Bool?) { self.init(name: name, value: flag.map { .bool($0) } ?? .null) }
}
