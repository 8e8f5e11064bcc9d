/// A value for `$1`, `$2`, ...; always sent separately in text format, never inserted into the SQL.
package enum PostgresParameter: Equatable, Sendable {
    /// SQL NULL.
    case null
    /// `text`.
    case text(String)
    /// `bigint`, or any narrower integer that holds it.
    case int(Int64)
    /// `boolean`.
    case bool(Bool)
    /// `text[]`; nil elements are NULL.
    case texts([String?])
    /// `bigint[]`; nil elements are NULL.
    case ints([Int64?])
    /// `boolean[]`.
    case bools([Bool])

    /// Text or NULL.
    package static func optional(_ text: String?) -> PostgresParameter { text.map { .text($0) } ?? .null }

    /// An integer or NULL.
    package static func optional(_ number: Int64?) -> PostgresParameter { number.map { .int($0) } ?? .null }

    /// The parameter's text with the terminating zero that libpq needs; nil for NULL.
    /// - Throws: ``PostgresError/Kind/nul`` when the text contains a NUL character, at which it would be cut off.
    func terminated() throws(PostgresError) -> [CChar]? {
        let bytes: [UInt8]
        switch self {
        case .null: return nil
        case .text(let text): bytes = Array(text.utf8)
        case .int(let number): bytes = Array(String(number).utf8)
        case .bool(let flag): bytes = flag ? [UInt8(ascii: "t")] : [UInt8(ascii: "f")]
        case .texts(let texts): bytes = Self.array(texts) { Self.appendQuoted($0, to: &$1) }
        case .ints(let numbers): bytes = Self.array(numbers) { $1.append(contentsOf: String($0).utf8) }
        case .bools(let flags): bytes = Self.array(flags) { $1.append(UInt8(ascii: $0 ? "t" : "f")) }
        }
        guard !bytes.contains(0) else {
            throw PostgresError(.nul, "a value contains the NUL character, which PostgreSQL cannot store")
        }
        var characters = bytes.map { CChar(bitPattern: $0) }
        characters.append(0)
        return characters
    }

    private static func array<Element>(
        _ elements: [Element?], _ append: (Element, inout [UInt8]) -> Void
    ) -> [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "{")]
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            if let element { append(element, &bytes) } else { bytes.append(contentsOf: "NULL".utf8) }
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private static func appendQuoted(_ text: String, to bytes: inout [UInt8]) {
        let quote = UInt8(ascii: "\"")
        let backslash = UInt8(ascii: "\\")
        bytes.append(quote)
        for byte in text.utf8 {
            if byte == quote || byte == backslash { bytes.append(backslash) }
            bytes.append(byte)
        }
        bytes.append(quote)
    }
}

extension PostgresParameter: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByNilLiteral
{
    /// `text`.
    package init(stringLiteral value: String) { self = .text(value) }

    /// `bigint`.
    package init(integerLiteral value: Int64) { self = .int(value) }

    /// `boolean`.
    package init(booleanLiteral value: Bool) { self = .bool(value) }

    /// SQL NULL.
    package init(nilLiteral: ()) { self = .null }
}
