package import SignalingProtocol
internal import SignalingWire

/// Reads a line of fields that are separated by single spaces; the last one extends unchanged to the end.
package struct TextFields {
    private var rest: UnsafeBufferPointer<UInt8>
    private let what: StaticString

    /// - Parameter bytes: the line; must stay valid as long as this reader is used.
    init(_ bytes: UnsafeBufferPointer<UInt8>, what: StaticString) {
        rest = bytes
        self.what = what
    }

    /// Reads a line with `body`.
    /// - Parameter what: what the line describes, for errors.
    package static func read<Value>(
        _ line: String, what: StaticString, _ body: (inout TextFields) throws(SignalingError) -> Value
    ) throws(SignalingError) -> Value {
        try line.utf8.withBytes { bytes -> Result<Value, SignalingError> in
            Result { () throws(SignalingError) in
                var fields = TextFields(bytes, what: what)
                return try body(&fields)
            }
        }.get()
    }

    /// The next field.
    package mutating func next() throws(SignalingError) -> String { try text(try nextBytes()) }

    /// The next field, as a number.
    package mutating func number<Number: FixedWidthInteger>(
        _ type: Number.Type = Number.self
    ) throws(SignalingError) -> Number {
        guard let number = DecimalText.parse(try nextBytes()).flatMap({ Number(exactly: $0) }) else { throw bad() }
        return number
    }

    private mutating func nextBytes() throws(SignalingError) -> UnsafeBufferPointer<UInt8> {
        let end = rest.firstIndex(of: UInt8(ascii: " ")) ?? rest.count
        guard end > 0 else { throw bad() }
        defer { drop(min(end + 1, rest.count)) }
        return UnsafeBufferPointer(rebasing: rest[..<end])
    }

    private mutating func drop(_ count: Int) { rest = UnsafeBufferPointer(rebasing: rest[count...]) }

    /// The next `count` bytes, which may contain spaces, and the space after them, unless the line ends there.
    mutating func take(_ count: Int) throws(SignalingError) -> String {
        guard count >= 0, count <= rest.count else { throw bad() }
        let field = UnsafeBufferPointer(rebasing: rest[..<count])
        drop(count)
        if let first = rest.first {
            guard first == UInt8(ascii: " ") else { throw bad() }
            drop(1)
        }
        return try text(field)
    }

    /// The rest of the line; valid as long as the line is.
    package var remainder: UnsafeBufferPointer<UInt8> { rest }

    /// The rest of the line, as text.
    package func remainderText() throws(SignalingError) -> String { try text(rest) }

    func bad() -> SignalingError { SignalingError(.failed, .badEvent, "\(what) does not have the expected fields") }

    private func text(_ bytes: UnsafeBufferPointer<UInt8>) throws(SignalingError) -> String {
        guard let text = String(utf8: bytes) else { throw bad() }
        return text
    }
}
