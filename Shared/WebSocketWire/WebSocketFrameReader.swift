import SignalingProtocol

/// Reads the frames of one client's WebSocket from the bytes of its connection. Source: RFC 6455, section 5.
///
/// A frame that one read holds completely is parsed in place: nothing is allocated, and its payload is copied once. Between reads
/// only incomplete parts are kept: of a frame at most the bound and a header, of a fragmented message at most the bound. An idle
/// connection keeps nothing.
package struct WebSocketFrameReader: Sendable {
    /// What a client sent; pongs ask for nothing and are passed over.
    package enum Message: Equatable, Sendable {
        /// A text, its fragments joined; not checked to be UTF-8.
        case text
        /// Bytes, their fragments joined; only where binary messages are taken.
        case binary
        /// A ping, to be answered with its payload.
        case ping
        /// A close frame, to be answered with one; the client sends nothing after it.
        case close
    }

    /// The most bytes of a frame's payload, and of a message. Lower before the login.
    package var bound: Int
    /// The beginning of a frame whose rest was not read yet.
    private(set) var kept: [UInt8] = []
    /// The fragments so far of a message whose last one has not come.
    private(set) var gathered: [UInt8]?
    /// Whether the message in ``gathered`` is binary.
    private var gathersBinary = false
    private let takesBinary: Bool

    /// A reader at the beginning of a connection's first frame.
    /// - Parameters:
    ///   - bound: the most bytes of a frame's payload, and of a message.
    ///   - takesBinary: whether binary messages are read; otherwise they break the protocol.
    package init(bound: Int = Limits.frameBytes, takesBinary: Bool = false) {
        self.bound = bound
        self.takesBinary = takesBinary
    }

    /// Reads up to the end of the next message.
    /// - Parameters:
    ///   - bytes: the bytes of one read; pass the same ones until nil is returned.
    ///   - position: where to go on in the bytes, 0 at first; moved past what was read.
    ///   - payload: replaced by the unmasked payload of a message or ping. It grows to the bound, so that all connections of a
    ///     thread better share one.
    /// - Returns: nil when the bytes are used up.
    /// - Throws: `WebSocketFrameError` when the client breaks the protocol, as soon as a header shows it: 1002, 1003 for a
    ///   binary frame, 1009 for a frame or message over the bound; 1002 and 1007 for the code and the reason of a close frame
    ///   that are none. Nothing can be read afterwards.
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
                // Only as much as this frame lacks, so that bytes of the next one are not copied.
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

    /// Reads the header and checks that the frame may come now.
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

    /// Checks what a close frame says: nothing, or a code and a reason (RFC 6455, section 5.5.1).
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
