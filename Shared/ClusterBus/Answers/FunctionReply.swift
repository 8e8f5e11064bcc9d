package import RedisClient
package import SignalingProtocol

/// Reads the elements of a function's reply in their order, each once. Elements after the last one read are ignored.
///
/// Lua returns small numbers as integers and others, such as the numbers of changes, as text; both are read as numbers.
package struct FunctionReply {
    private var rest: ArraySlice<RedisValue>

    /// - Throws: `SignalingError.unreadableAnswer` when the reply is not an array. All methods throw it when an element
    ///   is missing or has another form.
    package init(_ reply: RedisValue) throws(SignalingError) {
        guard let elements = reply.array else { throw .unreadableAnswer }
        rest = elements[...]
    }

    /// Whether no elements are left.
    package var isEmpty: Bool { rest.isEmpty }

    /// The elements that are left.
    package var remaining: ArraySlice<RedisValue> { rest }

    /// The elements that are left, as text.
    package var remainingTexts: [String] { rest.map(\.text) }

    /// The next element.
    package mutating func next() throws(SignalingError) -> RedisValue {
        guard let element = rest.popFirst() else { throw .unreadableAnswer }
        return element
    }

    /// The next element as text: integers in decimal, other non-text elements as empty text.
    package mutating func text() throws(SignalingError) -> String { try next().text }

    /// The next element's bytes.
    package mutating func bytes() throws(SignalingError) -> [UInt8] {
        guard let bytes = try next().bytes else { throw .unreadableAnswer }
        return bytes
    }

    /// The next element as a number.
    package mutating func int64() throws(SignalingError) -> Int64 {
        guard let number = try next().int else { throw .unreadableAnswer }
        return number
    }

    /// The next element as a number.
    package mutating func int() throws(SignalingError) -> Int {
        guard let number = Int(exactly: try int64()) else { throw .unreadableAnswer }
        return number
    }

    /// The next element as a number of 32 bits.
    package mutating func uint32() throws(SignalingError) -> UInt32 {
        guard let number = UInt32(exactly: try int64()) else { throw .unreadableAnswer }
        return number
    }

    /// The next element, in milliseconds.
    package mutating func time() throws(SignalingError) -> RedisTime { RedisTime(milliseconds: try int64()) }
}
