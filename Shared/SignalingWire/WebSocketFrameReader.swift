internal import SignalingProtocol

/// Reads the frames of one client's WebSocket from the bytes of its connection. Source: RFC 6455, section 5.
///
/// A frame that is whole in the bytes at hand is taken from there: nothing is allocated, and its payload copied once.
/// Between reads only what is not whole is kept: a frame, at most ``Limits/frameBytes`` and its header, and a message in
/// fragments, at most ``Limits/frameBytes``; a connection that is silent between messages keeps nothing.
public struct WebSocketFrameReader: Sendable {
    /// What a client sent; pongs ask for nothing and are passed over.
    public enum Message: Equatable, Sendable {
        /// A text, its fragments joined; not checked to be UTF-8.
        case text
        /// A ping, to be answered with its payload.
        case ping
        /// A close frame, to be answered with one; the client sends nothing after it.
        case close
    }

    /// The beginning of a frame, as it came.
    private(set) var kept: [UInt8] = []
    /// The text of a message whose last fragment has not come.
    private(set) var gathered: [UInt8]?

    /// A reader at the beginning of a connection's first frame.
    public init() {}

    /// Reads up to the end of the next message.
    /// - Parameters:
    ///   - bytes: what the connection gave in one read, the same until nil is returned.
    ///   - position: where to go on in the bytes, 0 at first; moved past what was read.
    ///   - payload: replaced by the payload of a text or ping, unmasked. To be shared by all connections of a thread: it
    ///     grows to ``Limits/frameBytes``.
    /// - Returns: nil when the bytes are used up.
    /// - Throws: `WebSocketFrameError` when the client breaks the protocol, as soon as a header shows it: 1002, 1003 for a
    ///   binary frame, 1009 for a frame or message over ``Limits/frameBytes``. Nothing can be read afterwards.
    public mutating func next(
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
                if let message = take(header, rest.extracting(header.size..<wanted), &payload) { return message }
            } else {
                // Not all of the rest: what belongs to the next frame is not copied.
                let (_, wanted) = try nextHeader(in: kept.span.bytes)
                let added = rest.extracting(first: wanted - kept.count)
                keep(added)
                position += added.byteCount
                let (header, size) = try nextHeader(in: kept.span.bytes)
                guard let header, size == kept.count else { continue }
                let frame = kept
                kept = []
                if let message = take(header, frame.span.bytes.extracting(droppingFirst: header.size), &payload) {
                    return message
                }
            }
        }
        return nil
    }

    private mutating func keep(_ bytes: RawSpan) { bytes.withUnsafeBytes { kept.append(contentsOf: $0) } }

    /// Reads the header and checks that the frame may come now.
    private func nextHeader(
        in bytes: RawSpan
    ) throws(WebSocketFrameError) -> (header: WebSocketFrameHeader?, wanted: Int) {
        let (header, wanted) = try WebSocketFrameHeader.read(bytes)
        guard let header else { return (nil, wanted) }
        switch header.opcode {
        case .text:
            guard gathered == nil else { throw .unexpectedOpcode }
        case .continuation:
            guard let gathered else { throw .unexpectedOpcode }
            guard gathered.count + header.payloadBytes <= Limits.frameBytes else { throw .messageTooLarge }
        case .binary:
            throw .binary
        case .close, .ping, .pong:
            break
        }
        return (header, wanted)
    }

    private mutating func take(
        _ header: WebSocketFrameHeader, _ masked: RawSpan, _ payload: inout [UInt8]
    ) -> Message? {
        switch header.opcode {
        case .text where header.isFinal:
            payload.removeAll(keepingCapacity: true)
            payload.appendUnmasked(masked, key: header.maskingKey)
            return .text
        // A binary one is refused before.
        case .text, .continuation, .binary:
            var text = gathered ?? []
            gathered = nil
            text.appendUnmasked(masked, key: header.maskingKey)
            guard header.isFinal else {
                gathered = text
                return nil
            }
            payload.removeAll(keepingCapacity: true)
            payload.append(contentsOf: text)
            return .text
        case .ping:
            payload.removeAll(keepingCapacity: true)
            payload.appendUnmasked(masked, key: header.maskingKey)
            return .ping
        case .pong:
            return nil
        case .close:
            return .close
        }
    }
}

extension [UInt8] {
    /// Appends what a masked payload says, eight bytes at a time. Source: RFC 6455, section 5.3.
    /// - Parameter key: the masking key's four bytes as they lie in memory.
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
