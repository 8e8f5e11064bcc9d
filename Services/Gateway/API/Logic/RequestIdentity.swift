package import BusProtocol

/// The ids by which a request of the server API is found in logs and in the audit trail.
package struct RequestIdentity: Equatable, Sendable {
    /// Visible ASCII characters of an id.
    package static let idBytes = 1...128

    /// What the answer's `X-Request-Id` is: the client's own, or a new one.
    package let id: String
    /// Where the request is in a trace.
    package let trace: TraceContext

    /// - Parameters:
    ///   - given: the request's `X-Request-Id`.
    ///   - traceparents: the values of all its headers `traceparent`.
    ///   - random: so many random bytes, in lower-case hexadecimal.
    package init(given: String?, traceparents: [String], random: (Int) -> String) {
        id = given.flatMap { Self.isID($0) ? $0 : nil } ?? random(16)
        // Several are as good as none: nobody knows which one is right.
        let parent = traceparents.count == 1 ? TraceContext(traceparents[0]) : nil
        trace = TraceContext(
            trace: parent?.trace ?? Self.nonzero(16, random), span: Self.nonzero(8, random), flags: parent?.flags ?? 0)
    }

    /// What commands carry that are sent for the request.
    /// - Parameter key: the id of the request's key.
    package func cause(key: String?) -> CommandCause { CommandCause(key: key, request: id, trace: trace.trace) }

    private static func isID(_ text: String) -> Bool {
        idBytes.contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// W3C Trace Context has no ids of zeroes only.
    private static func nonzero(_ bytes: Int, _ random: (Int) -> String) -> String {
        let text = random(bytes)
        return text.utf8.contains { $0 != UInt8(ascii: "0") } ? text : String(text.dropLast()) + "1"
    }
}

/// A position in a trace (W3C Trace Context, the header `traceparent`).
package struct TraceContext: Equatable, Sendable {
    /// The trace's id: 32 lower-case hexadecimal digits, not all zero.
    package let trace: String
    /// The id of the caller, or of what was done: 16 lower-case hexadecimal digits, not all zero.
    package let span: String
    /// Bits; 1: the caller records the trace.
    package let flags: UInt8

    init(trace: String, span: String, flags: UInt8) {
        self.trace = trace
        self.span = span
        self.flags = flags
    }

    /// Reads a header; nil when it is invalid. Of versions after 00, what 00 has is read, and what may follow is
    /// ignored.
    package init?(_ header: String) {
        let bytes = Array(header.utf8)
        guard bytes.count >= 55, Self.isHex(bytes[0..<2]), bytes[2] == UInt8(ascii: "-"),
            Self.isHex(bytes[3..<35]), bytes[35] == UInt8(ascii: "-"),
            Self.isHex(bytes[36..<52]), bytes[52] == UInt8(ascii: "-"), Self.isHex(bytes[53..<55])
        else { return nil }
        let version = Self.text(bytes[0..<2])
        guard version != "ff", bytes.count == 55 || (version != "00" && bytes[55] == UInt8(ascii: "-")) else {
            return nil
        }
        guard Self.isSet(bytes[3..<35]), Self.isSet(bytes[36..<52]),
            let flags = UInt8(Self.text(bytes[53..<55]), radix: 16)
        else { return nil }
        // Of the flags only the first is known; the others must not be passed on.
        self.init(trace: Self.text(bytes[3..<35]), span: Self.text(bytes[36..<52]), flags: flags & 1)
    }

    /// The header, in version 00.
    package var header: String { "00-\(trace)-\(span)-0\(flags)" }

    private static func isHex(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
    }

    private static func isSet(_ digits: ArraySlice<UInt8>) -> Bool { digits.contains { $0 != UInt8(ascii: "0") } }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
