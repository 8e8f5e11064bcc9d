package import NIOCore

/// One argument of a command. String and integer literals can be used directly.
package enum RedisArgument: Sendable, Equatable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
    ExpressibleByIntegerLiteral
{
    /// Text, as UTF-8.
    case string(String)
    /// An integer, as decimal text.
    case int64(Int64)
    /// Bytes.
    case bytes([UInt8])
    /// The readable bytes of a buffer.
    case buffer(ByteBuffer)

    /// An integer of any type, whose value must fit in 64 signed bits.
    package static func int(_ value: some BinaryInteger) -> RedisArgument { .int64(Int64(value)) }

    /// A text argument.
    package init(stringLiteral value: String) { self = .string(value) }

    /// A decimal argument.
    package init(integerLiteral value: Int64) { self = .int64(value) }
}

/// Arguments of a command, stored in their encoded form.
package struct RedisArguments: Sendable, Equatable {
    /// The number of arguments.
    package private(set) var count = 0
    /// The arguments in RESP. hiredis' encoder would allocate a string of its own that must then be copied; the format
    /// is so small that encoding it here is both simpler and one copy cheaper.
    private(set) var body: [UInt8] = []

    package init() {}

    /// The encoded size in bytes.
    package var bytes: Int { body.count }

    fileprivate mutating func reserve(bytes: Int) { body.reserveCapacity(bytes) }

    /// Adds an argument at the end.
    package mutating func append(_ argument: RedisArgument) {
        switch argument {
        case .string(let text): append(text)
        case .int64(let value): append(String(value))
        case .bytes(let bytes): bytes.withUnsafeBytes { append($0) }
        case .buffer(let buffer): buffer.withUnsafeReadableBytes { append($0) }
        }
    }

    /// Adds text at the end, as UTF-8.
    package mutating func append(_ text: String) {
        text.utf8Span.span.withUnsafeBytes { append($0) }
    }

    /// Adds an integer at the end, as decimal text.
    package mutating func append(_ value: Int) { append(String(value)) }

    /// Adds arguments at the end.
    package mutating func append(contentsOf more: RedisArguments) {
        count += more.count
        body.append(contentsOf: more.body)
    }

    /// Inserts arguments before the byte at an offset, which must be where an argument begins, or the end.
    mutating func insert(_ more: RedisArguments, at offset: Int) {
        count += more.count
        body.insert(contentsOf: more.body, at: offset)
    }

    /// Removes the first argument, whose encoded size is `bytes`.
    mutating func removeFirst(bytes: Int) {
        count -= 1
        body.removeSubrange(..<bytes)
    }

    /// Adds arguments at the end except the first of them, whose encoded size is `first` bytes.
    fileprivate mutating func append(contentsOf more: RedisArguments, withoutFirst first: Int) {
        count += more.count - 1
        body.append(contentsOf: more.body.dropFirst(first))
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        count += 1
        body.append(UInt8(ascii: "$"))
        appendDigits(of: bytes.count)
        appendLineEnd()
        body.append(contentsOf: bytes)
        appendLineEnd()
    }

    private mutating func appendDigits(of number: Int) {
        let (rest, digit) = number.quotientAndRemainder(dividingBy: 10)
        if rest > 0 { appendDigits(of: rest) }
        body.append(UInt8(ascii: "0") + UInt8(digit))
    }

    private mutating func appendLineEnd() {
        body.append(0x0D)
        body.append(0x0A)
    }
}

/// A command and its arguments. Two are equal when they are the same to a single server: neither the slot counts nor
/// whether replicas are waited for.
package struct RedisCommand: Sendable, Equatable {
    /// The part of the command that may be logged: arguments may be confidential.
    package let name: String
    let isFunctionCall: Bool
    /// Whether to retry the command as ``inFullRedis`` when Redis refuses it at `maxmemory`.
    private(set) var isVital = false
    /// Whether the first argument is a key. For function calls ``slot`` knows.
    private(set) var hasKey = false
    /// Whether the answer waits until enough replicas have what the command wrote; see ``RedisConfiguration/replicas``.
    /// Default false. Without effect on the command itself.
    package var isDurable = false
    /// The slot that the command's sender has named; see ``slot``.
    var namedSlot: UInt16?
    /// The encoded words of the command; for a function call, only the words after the function's name.
    var words = RedisArguments()

    private init(name: String, isFunctionCall: Bool, bytes: Int) {
        self.name = name
        self.isFunctionCall = isFunctionCall
        words.reserve(bytes: bytes)
    }

    /// Makes a command.
    package init(_ name: String, _ arguments: RedisArgument...) {
        self.init(name, arguments: arguments)
    }

    /// Makes a command whose first argument is a key, or a topic: in a cluster, that decides to which master it goes.
    package init(_ name: String, key: String, _ arguments: RedisArgument...) {
        self.init(name, key: key, arguments: arguments)
    }

    /// Makes a command of a key, or a topic, and a list of further arguments.
    package init(_ name: String, key: String, arguments: [RedisArgument]) {
        self.init(name: name, isFunctionCall: false, bytes: 64 + 16 * (arguments.count + 1))
        hasKey = true
        append(name)
        append(key)
        for argument in arguments { append(argument) }
    }

    /// Makes a command from a list of arguments.
    package init(_ name: String, arguments: [RedisArgument]) {
        self.init(name: name, isFunctionCall: false, bytes: 64 + 16 * arguments.count)
        append(name)
        for argument in arguments { append(argument) }
    }

    /// A call of a function on one key: `FCALL name 1 tag arguments...`.
    package static func function(_ name: String, tag: String, _ arguments: RedisArgument...) -> RedisCommand {
        function(name, tag: tag, arguments: arguments)
    }

    /// A call of a function on one key, with a list of arguments.
    package static func function(_ name: String, tag: String, arguments: [RedisArgument]) -> RedisCommand {
        function(name, keys: [tag], arguments: arguments)
    }

    /// A call of a function: `FCALL name <count> keys... arguments...`.
    package static func function(_ name: String, keys: [String], arguments: [RedisArgument]) -> RedisCommand {
        var command = function(name, keys: keys.count, bytes: 64 + 32 * keys.count + 16 * arguments.count)
        for key in keys { command.append(key) }
        for argument in arguments { command.append(argument) }
        return command
    }

    /// The start of a function call; the caller appends the keys and the arguments.
    /// - Parameter bytes: the approximate size of keys and arguments, to be reserved.
    package static func function(_ name: String, keys: Int, bytes: Int) -> RedisCommand {
        var command = RedisCommand(name: name, isFunctionCall: true, bytes: bytes + 64)
        command.append(keys)
        return command
    }

    /// The same command as a durable one; see ``isDurable``.
    package var durable: RedisCommand {
        var command = self
        command.isDurable = true
        return command
    }

    package static func == (left: RedisCommand, right: RedisCommand) -> Bool {
        left.name == right.name && left.isFunctionCall == right.isFunctionCall && left.isVital == right.isVital
            && left.words == right.words
    }

    /// Adds an argument at the end.
    package mutating func append(_ argument: RedisArgument) { words.append(argument) }

    /// Adds text at the end, as UTF-8.
    package mutating func append(_ text: String) { words.append(text) }

    /// Adds an integer at the end, as decimal text.
    package mutating func append(_ value: Int) { words.append(value) }

    /// Adds arguments at the end.
    package mutating func append(contentsOf more: RedisArguments) { words.append(contentsOf: more) }

    /// Writes the command in RESP to a buffer.
    package func encode(into buffer: inout ByteBuffer, functions: FunctionNames = FunctionNames()) {
        let head = isFunctionCall ? functions.head(of: name) : []
        let count = isFunctionCall ? words.count + 2 : words.count
        let space = Self.maxCountBytes + head.count + words.bytes
        // One write instead of five, because ByteBuffer checks its storage at each.
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: space) { space in
            var end = Self.write(count: count, to: space)
            Self.write(head, to: space, at: &end)
            Self.write(words.body, to: space, at: &end)
            return end
        }
    }

    /// The longest first line of a command: `*`, nineteen digits, CRLF.
    private static let maxCountBytes = 22

    /// Writes the first line of a command, `*COUNT`.
    /// - Returns: the offset of its end.
    private static func write(count: Int, to space: UnsafeMutableRawBufferPointer) -> Int {
        var digits = 1
        var power = 10
        while power <= count {
            digits += 1
            power *= 10
        }
        space[0] = UInt8(ascii: "*")
        var rest = count
        for place in stride(from: digits, to: 0, by: -1) {
            space[place] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        space[digits + 1] = 0x0D
        space[digits + 2] = 0x0A
        return digits + 3
    }

    private static func write(_ bytes: [UInt8], to space: UnsafeMutableRawBufferPointer, at end: inout Int) {
        bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: space[end...]).copyMemory(from: $0) }
        end += bytes.count
    }

    /// The start of an XADD that must succeed even when Redis is at `maxmemory`; the caller appends the words that
    /// follow the stream's name. It is sent as a plain XADD, which costs Redis a third of a function call. Only if that
    /// is refused for lack of memory is it sent again as ``inFullRedis``, behind the commands sent meanwhile.
    package static func vitalAppend(to stream: String) -> RedisCommand {
        var command = RedisCommand("XADD", key: stream)
        command.isVital = true
        return command
    }

    /// The command as a call of the function that succeeds at `maxmemory`; see ``StreamAppend``.
    var inFullRedis: RedisCommand {
        var call = RedisCommand.function("heliograph_append", keys: 1, bytes: words.bytes)
        call.words.append(contentsOf: words, withoutFirst: "$4\r\nXADD\r\n".utf8.count)
        call.isDurable = isDurable
        return call
    }

    /// The size of the encoded command, slightly overestimated.
    var byteEstimate: Int { words.bytes + (isFunctionCall ? name.utf8.count + 56 : 24) }
}
