/// Builds an answer. Values hold no line ends: the parser has unfolded what came, the rest is ours.
struct SIPResponseWriter {
    private var bytes: [UInt8]

    init(status: Int, reason: String) { bytes = Array("SIP/2.0 \(status) \(reason)\r\n".utf8) }

    mutating func put(_ name: String, _ value: [UInt8]) {
        bytes += name.utf8
        bytes += value.isEmpty ? [UInt8(ascii: ":")] : [UInt8(ascii: ":"), 0x20]
        bytes += value
        bytes += [0x0d, 0x0a]
    }

    /// The whole message, without a body.
    consuming func finished() -> [UInt8] {
        bytes += "Content-Length: 0\r\n\r\n".utf8
        return bytes
    }
}
