package import NIOCore

/// One reply of Redis (RESP2).
package enum RedisValue: Sendable, Equatable {
    /// The null bulk string or null array.
    case null
    /// An integer.
    case integer(Int64)
    /// A status such as `OK`.
    case simple(String)
    /// Bytes.
    case bulk(ByteBuffer)
    /// A list, at most seven levels deep (a bound of hiredis).
    case array([RedisValue])
    /// An error inside a list; an error that is the whole reply arrives as a failure.
    case error(RedisError)
}

extension RedisValue {
    /// Whether this is null.
    package var isNull: Bool { self == .null }

    /// The integer, or the integer that a text spells; nil otherwise.
    package var int: Int64? {
        switch self {
        case .integer(let value): value
        case .bulk, .simple: string.flatMap { Int64($0) }
        case .null, .array, .error: nil
        }
    }

    /// The text of a status or of bytes (invalid UTF-8 is repaired); nil otherwise.
    package var string: String? {
        switch self {
        case .simple(let text): text
        case .bulk(let buffer): String(buffer: buffer)
        case .null, .integer, .array, .error: nil
        }
    }

    /// The bytes of a status or of bytes; nil otherwise.
    package var bytes: [UInt8]? {
        switch self {
        case .simple(let text): Array(text.utf8)
        case .bulk(let buffer): Array(buffer.readableBytesView)
        case .null, .integer, .array, .error: nil
        }
    }

    /// The bytes without a copy; nil unless this is bytes.
    package var buffer: ByteBuffer? {
        guard case .bulk(let buffer) = self else { return nil }
        return buffer
    }

    /// The elements of a list; nil otherwise.
    package var array: [RedisValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }
}
