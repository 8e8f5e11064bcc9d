public import NIOCore

/// One argument of a command. Literals of strings and integers are arguments.
public enum RedisArgument: Sendable, Equatable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
    ExpressibleByIntegerLiteral
{
    /// Text, as UTF-8.
    case string(String)
    /// An integer, as decimal text.
    case int64(Int64)
    /// Bytes.
    case bytes([UInt8])
    /// Bytes: the readable part.
    case buffer(ByteBuffer)

    /// An integer of any type that fits 64 signed bits.
    public static func int(_ value: some BinaryInteger) -> RedisArgument { .int64(Int64(value)) }

    /// A text argument.
    public init(stringLiteral value: String) { self = .string(value) }

    /// A decimal argument.
    public init(integerLiteral value: Int64) { self = .int64(value) }
}

/// A command and its arguments.
public struct RedisCommand: Sendable, Equatable {
    /// The name, then what follows it.
    public private(set) var arguments: [RedisArgument]

    /// Makes a command.
    public init(_ name: String, _ arguments: RedisArgument...) {
        self.init(name, arguments: arguments)
    }

    /// Makes a command of a list of arguments.
    public init(_ name: String, arguments: [RedisArgument]) {
        self.arguments = [.string(name)]
        self.arguments.append(contentsOf: arguments)
    }

    /// Adds an argument at the end.
    public mutating func append(_ argument: RedisArgument) { arguments.append(argument) }

    /// A call of a function on one key: `FCALL name 1 tag arguments...`.
    public static func function(_ name: String, tag: String, _ arguments: RedisArgument...) -> RedisCommand {
        function(name, tag: tag, arguments: arguments)
    }

    /// A call of a function on one key, with a list of arguments.
    public static func function(_ name: String, tag: String, arguments: [RedisArgument]) -> RedisCommand {
        var command = RedisCommand("FCALL", arguments: [])
        command.arguments.reserveCapacity(arguments.count + 4)
        command.arguments += [.string(name), 1, .string(tag)]
        command.arguments += arguments
        return command
    }

    var isFunctionCall: Bool { arguments.first == .string("FCALL") }

    /// What is logged of it: arguments may be confidential.
    var name: String {
        guard case .string(let name)? = arguments.first else { return "" }
        if isFunctionCall, arguments.count > 1, case .string(let function) = arguments[1] { return function }
        return name
    }
}

extension RedisCommand {
    /// Writes the command in RESP straight into the outgoing buffer. hiredis' encoder would make an sds of its own that is
    /// then copied; the format is two lines of arithmetic, so this is both simpler and one copy cheaper.
    func encode(into buffer: inout ByteBuffer) {
        Self.writeLine(UInt8(ascii: "*"), arguments.count, into: &buffer)
        for argument in arguments {
            switch argument {
            case .string(let text):
                Self.writeLine(UInt8(ascii: "$"), text.utf8.count, into: &buffer)
                buffer.writeString(text)
            case .int64(let value):
                let text = String(value)
                Self.writeLine(UInt8(ascii: "$"), text.utf8.count, into: &buffer)
                buffer.writeString(text)
            case .bytes(let bytes):
                Self.writeLine(UInt8(ascii: "$"), bytes.count, into: &buffer)
                buffer.writeBytes(bytes)
            case .buffer(let bytes):
                Self.writeLine(UInt8(ascii: "$"), bytes.readableBytes, into: &buffer)
                buffer.writeImmutableBuffer(bytes)
            }
            buffer.writeInteger(crlf)
        }
    }

    /// Bytes of the encoded command, a little over-estimated.
    var byteEstimate: Int {
        arguments.reduce(16) { sum, argument in
            switch argument {
            case .string(let text): sum + text.utf8.count + 16
            case .int64: sum + 32
            case .bytes(let bytes): sum + bytes.count + 16
            case .buffer(let bytes): sum + bytes.readableBytes + 16
            }
        }
    }

    private static func writeLine(_ marker: UInt8, _ count: Int, into buffer: inout ByteBuffer) {
        if count < 10 {
            // Most lines: one store instead of a String and three writes.
            let digit = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: count)
            buffer.writeInteger(UInt32(marker) << 24 | UInt32(digit) << 16 | UInt32(crlf))
        } else if count < 100 {
            let (tens, ones) = count.quotientAndRemainder(dividingBy: 10)
            let digits = UInt32(tens << 8 | ones) + 0x3030
            buffer.writeInteger(marker)
            buffer.writeInteger(digits << 16 | UInt32(crlf))
        } else {
            buffer.writeInteger(marker)
            buffer.writeString(String(count))
            buffer.writeInteger(crlf)
        }
    }
}

private let crlf: UInt16 = 0x0D0A
