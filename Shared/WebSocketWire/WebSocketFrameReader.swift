import SignalingProtocol

/// Reads the frames of one client's WebSocket from the bytes of its connection. Source: RFC 6455, section 5.
///
/// A frame that lies completely within one read is parsed in place: nothing is allocated, and its payload is copied
/// once. Between reads only incomplete parts are kept: of a frame at most the bound and a header, of a fragmented
/// message at most the bound. An idle connection keeps nothing.
package struct WebSocketFrameReader: Sendable {
    /// A message or control frame from the client. Pongs are ignored.
    package enum Message: Equatable, Sendable {
        /// A text message, its fragments joined; not checked to be UTF-8.
        case text
        /// A binary message, its fragments joined; only where binary messages are accepted.
        case binary
        /// A ping, to be answered with its payload.
        case ping
        /// A close frame, to be answered with a close frame; the client sends nothing after it.
        case close
    }

    /// The largest payload of a frame, and the largest message, in bytes. Smaller before the login.
    package var bound: Int
    /// The beginning of a frame whose rest has not arrived yet.
    private(set) var kept: [UInt8] = []
    /// The fragments so far of a message whose last fragment has not arrived yet.
    private(set) var gathered: [UInt8]?
    /// Whether the message in ``gathered`` is binary.
    private var gathersBinary = false
    private let takesBinary: Bool

    /// Creates a reader for a new connection.
    /// - Parameters:
    ///   - bound: the largest payload of a frame, and the largest message, in bytes.
    ///   - takesBinary: whether binary messages are accepted; otherwise they are an error.
    package init(bound: Int = Limits.frameBytes, takesBinary: Bool = false) {
        self.bound = bound
        self.takesBinary = takesBinary
    }

    /// Reads up to the end of the next message.
    /// - Parameters:
    ///   - bytes: the bytes of one read; pass the same ones until nil is returned.
    ///   - position: where to continue in the bytes, 0 at first; advanced past what was read.
    ///   - payload: replaced by the unmasked payload of a message or ping. It grows up to the bound, so all connections
    ///     of a thread should share one.
    /// - Returns: nil when the bytes are used up.
    /// - Throws: `WebSocketFrameError` when the client violates the protocol, as soon as a header shows it: 1002, 1003
    ///   for a binary frame, 1009 for a frame or message over the bound; 1002 or 1007 for an invalid code or reason in
    ///   a close frame. Nothing can be read afterwards.
    package mutating func next(
        in bytes: RawSpan, from position: inout Int, payload: inout [UInt8]
    ) throws(WebSocketFrameError) -> Message? {
        while position < bytes.byteCount {
            let rest = bytes.extracting(droppingFirst: position)
            if kept.isEmpty {
                let (header, wanted) = try nextHeader(in: rest)
                guard let header, wanted <= rest.byteCount else {
                    keep(rest)
                    position = bytes.byteCount
                    return nil
                }
                position += wanted
                if let message = try take(header, rest.extracting(header.size..<wanted), &payload) { return message }
            } else {
                // Only the bytes that this frame lacks, so that bytes of the next one are not copied.
                let (_, wanted) = try nextHeader(in: kept.span.bytes)
                let added = rest.extracting(first: wanted - kept.count)
                keep(added)
                position += added.byteCount
                let (header, size) = try nextHeader(in: kept.span.bytes)
                guard let header, size == kept.count else { continue }
                let frame = kept
                kept = []
                if let message = try take(header, frame.span.bytes.extracting(droppingFirst: header.size), &payload) {
                    return message
                }
            }
        }
        return nil
    }

    private mutating func keep(_ bytes: RawSpan) { bytes.withUnsafeBytes { kept.append(contentsOf: $0) } }

    /// Parses the header and checks that the frame is allowed at this point.
    private func nextHeader(
        in bytes: RawSpan
    ) throws(WebSocketFrameError) -> (header: WebSocketFrameHeader?, wanted: Int) {
        let (header, wanted) = try WebSocketFrameHeader.read(bytes, bound: bound)
        guard let header else { return (nil, wanted) }
        switch header.opcode {
        case .text:
            guard gathered == nil else { throw .unexpectedOpcode }
        case .continuation:
            guard let gathered else { throw .unexpectedOpcode }
            guard gathered.count + header.payloadBytes <= bound else { throw .messageTooLarge(bound) }
        case .binary:
            guard takesBinary else { throw .binary }
            guard gathered == nil else { throw .unexpectedOpcode }
        case .close, .ping, .pong:
            break
        }
        return (header, wanted)
    }

    private mutating func take(
        _ header: WebSocketFrameHeader, _ masked: RawSpan, _ payload: inout [UInt8]
    ) throws(WebSocketFrameError) -> Message? {
        switch header.opcode {
        case .text where header.isFinal:
            payload.replace(byUnmasked: masked, key: header.maskingKey)
            return .text
        case .binary where header.isFinal:
            payload.replace(byUnmasked: masked, key: header.maskingKey)
            return .binary
        case .text, .binary, .continuation:
            if header.opcode != .continuation { gathersBinary = header.opcode == .binary }
            var message = gathered ?? []
            gathered = nil
            message.appendUnmasked(masked, key: header.maskingKey)
            guard header.isFinal else {
                gathered = message
                return nil
            }
            payload.removeAll(keepingCapacity: true)
            payload.append(contentsOf: message)
            return gathersBinary ? .binary : .text
        case .ping:
            payload.replace(byUnmasked: masked, key: header.maskingKey)
            return .ping
        case .pong:
            return nil
        case .close:
            var saying: [UInt8] = []
            saying.appendUnmasked(masked, key: header.maskingKey)
            try Self.check(closing: saying)
            return .close
        }
    }

    /// Checks the payload of a close frame: empty, or a code and a reason (RFC 6455, section 5.5.1).
    private static func check(closing saying: [UInt8]) throws(WebSocketFrameError) {
        guard saying.count >= 2 else { return }
        guard WebSocketCloseCode.isSendable(UInt16(saying[0]) << 8 | UInt16(saying[1])) else { throw .closeCode }
        guard String(validating: saying[2...], as: UTF8.self) != nil else { throw .closeReason }
    }
}

extension [UInt8] {
    fileprivate mutating func replace(byUnmasked masked: RawSpan, key: UInt32) {
        removeAll(keepingCapacity: true)
        appendUnmasked(masked, key: key)
    }

    /// Appends a masked payload after unmasking it, eight bytes at a time. Source: RFC 6455, section 5.3.
    /// - Parameter key: the four bytes of the masking key, in memory order.
    fileprivate mutating func appendUnmasked(_ masked: RawSpan, key: UInt32) {
        let first = count
        masked.withUnsafeBytes { append(contentsOf: $0) }
        let mask = UInt64(key) << 32 | UInt64(key)
        withUnsafeMutableBytes { bytes in
            var index = first
            while index + 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                bytes.storeBytes(of: word ^ mask, toByteOffset: index, as: UInt64.self)
                index += 8
            }
            for (place, index) in (index..<bytes.count).enumerated() {
                bytes[index] ^= UInt8(truncatingIfNeeded: key.littleEndian >> (8 * (place & 3)))
            }
        }
    }
}
