package import NIOCore
package import SignalingProtocol

/// One reply of Redis (RESP2).
package enum RedisValue: Sendable, Equatable {
    /// The null bulk string or null array.
    case null
    /// An integer.
    case integer(Int64)
    /// A status such as `OK`.
    case simple(String)
    /// A bulk string.
    case bulk(ByteBuffer)
    /// An array, at most seven levels deep (a limit of hiredis).
    case array([RedisValue])
    /// An error inside an array; an error that is the whole reply is reported as a failure.
    case error(RedisError)
}

extension RedisValue {
    /// Whether this is null.
    package var isNull: Bool { self == .null }

    /// The integer, or the integer spelled by a string; nil otherwise.
    package var int: Int64? {
        switch self {
        case .integer(let value): value
        case .bulk, .simple: string.flatMap { Int64($0) }
        case .null, .array, .error: nil
        }
    }

    /// The text of a status or a bulk string, with invalid UTF-8 replaced; nil otherwise.
    package var string: String? {
        switch self {
        case .simple(let text): text
        case .bulk(let buffer): String(buffer: buffer)
        case .null, .integer, .array, .error: nil
        }
    }

    /// The bytes of a status or a bulk string; nil otherwise.
    package var bytes: [UInt8]? {
        switch self {
        case .simple(let text): Array(text.utf8)
        case .bulk(let buffer): Array(buffer.readableBytesView)
        case .null, .integer, .array, .error: nil
        }
    }

    /// The bytes of a bulk string, without a copy; nil otherwise.
    package var buffer: ByteBuffer? {
        guard case .bulk(let buffer) = self else { return nil }
        return buffer
    }

    /// The elements of an array; nil otherwise.
    package var array: [RedisValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }
}

extension RedisValue {
    /// The elements of an array as text: integers in decimal, other non-text elements as empty text; no
    /// elements unless this is an array.
    package var texts: [String] { (array ?? []).map(\.text) }

    /// An integer in decimal, a text as it is, anything else as empty text.
    package var text: String { if case .integer(let value) = self { String(value) } else { string ?? "" } }
}

extension RedisValue {
    /// The reply to TIME as a moment; nil for any other value.
    package var time: RedisTime? {
        guard let parts = array, parts.count == 2 else { return nil }
        return RedisTime(seconds: parts[0].int, microseconds: parts[1].int)
    }
}
