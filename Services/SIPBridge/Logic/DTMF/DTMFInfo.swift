/// A digit in the body of a SIP INFO request.
package struct DTMFInfo: Equatable, Sendable {
    /// The value of Content-Type.
    package var contentType: String
    /// The body.
    package var body: [UInt8]

    /// A body of type `application/dtmf-relay`, which most gateways support.
    /// - Parameter duration: how long the digit is pressed, in ms.
    package static func relay(_ event: DTMFEvent, duration: Int = 160) -> DTMFInfo {
        DTMFInfo(
            contentType: "application/dtmf-relay",
            body: Array("Signal=\(event.character)\r\nDuration=\(duration)\r\n".utf8))
    }

    /// A body of type `application/dtmf`: only the digit, as one character, because some peers read no further than the
    /// first.
    package static func plain(_ event: DTMFEvent) -> DTMFInfo {
        DTMFInfo(contentType: "application/dtmf", body: Array(String(event.character).utf8))
    }

    /// The largest body, in bytes, that is parsed.
    package static let maxBodyBytes = 1024

    /// The content of a request.
    package enum Content: Equatable, Sendable {
        /// A digit was pressed and released.
        case digit(DTMFEvent)
        /// A key event other than a digit, such as a hook flash: answered with 200 and ignored.
        case noDigit
        /// A body that cannot be parsed: answered with 400.
        case malformed
        /// Another content type: answered with 415.
        case unsupportedType
    }

    /// The value of the Accept header in a 415.
    package static let acceptedTypes = "application/dtmf-relay, application/dtmf, audio/telephone-event"
}

/// Reads the digits of a dialog's INFO requests. Retransmissions of a request must not get here.
package struct DTMFInfoReceiver {
    /// The event begun by a body of `audio/telephone-event`, until a later one ends it.
    private var begun: UInt8?

    /// Creates a receiver.
    package init() {}

    /// Parses a request's content.
    /// - Parameter contentType: the value of Content-Type, with or without parameters.
    package mutating func receive(contentType: String, body: [UInt8]) -> DTMFInfo.Content {
        guard body.count <= DTMFInfo.maxBodyBytes else { return .malformed }
        let type = contentType.prefix { $0 != ";" }.trimmed.lowercased()
        switch type {
        case "application/dtmf-relay":
            return relay(body)
        case "application/dtmf":
            return signal(String(decoding: body, as: UTF8.self)[...].trimmed)
        case "audio/telephone-event":
            // Either the payload of an RFC 4733 packet, or one of the texts under another name.
            guard body.count == DTMFPacket.byteCount, let packet = DTMFPacket(body), packet.event < 0x20 else {
                return body.contains(UInt8(ascii: "="))
                    ? relay(body) : signal(String(decoding: body, as: UTF8.self)[...].trimmed)
            }
            return payload(packet)
        default:
            return .unsupportedType
        }
    }

    private mutating func payload(_ packet: DTMFPacket) -> DTMFInfo.Content {
        guard let event = DTMFEvent(code: packet.event) else { return .noDigit }
        // Some senders report only the end of a press, others its beginning and its end; the latter two are one press.
        if packet.isEnd, begun == packet.event {
            begun = nil
            return .noDigit
        }
        begun = packet.isEnd ? nil : packet.event
        return .digit(event)
    }

    private func relay(_ body: [UInt8]) -> DTMFInfo.Content {
        for line in String(decoding: body, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].trimmed.lowercased() == "signal" else { continue }
            return signal(parts[1].trimmed)
        }
        return .malformed
    }

    /// Parses `5`, `*`, `#`, `A`, or the code of an event, where `10` and `11` mean `*` and `#`.
    private func signal(_ text: Substring) -> DTMFInfo.Content {
        if text.count == 1, let character = text.uppercased().first, let event = DTMFEvent(character) {
            return .digit(event)
        }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let code = UInt8(text) else { return .malformed }
        return DTMFEvent(code: code).map { .digit($0) } ?? .noDigit
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0.isNewline }
        var text = drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }
}
