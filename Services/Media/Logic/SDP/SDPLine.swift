/// The bounds of a session description (RFC 8866).
package enum SDPBounds {
    /// The greatest description, in bytes.
    package static let bytes = 65_536
    /// The lines of a description.
    package static let lines = 1000
    /// The media sections of a description.
    package static let sections = 64
}

/// Why a session description is refused; the reason of a call is `bad_offer` for all of them.
package enum SDPError: Error, Equatable, Sendable {
    /// More than ``SDPBounds`` allow.
    case tooLarge
    /// Not a session description: the number of the line, from 1.
    case malformed(line: Int)
    /// A description that no media can come of.
    case unsuitable(Reason)

    package enum Reason: Sendable {
        /// No SHA-256 fingerprint of the peer's certificate, or several that differ.
        case fingerprint
        /// The peer insists on being the server of DTLS.
        case setup
        /// Not all media are in one BUNDLE group, or two sections have one mid.
        case bundle
        /// Media without RTCP multiplexing, or without DTLS-SRTP.
        case transport
        /// More than one section that sends audio, or video.
        case senders
        /// No section that this server could take.
        case nothing
    }
}

/// One line of a description: a letter and a value.
struct SDPLine: Equatable {
    var type: Character
    var value: Substring

    /// Reads the lines of a description, which end with CR LF or LF.
    static func lines(of text: String) throws(SDPError) -> [SDPLine] {
        guard text.utf8.count <= SDPBounds.bytes else { throw .tooLarge }
        var lines: [SDPLine] = []
        // A line feed after a carriage return is one character with it.
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" }) {
            // The last line ends too.
            if line.isEmpty && line.endIndex == text.endIndex { break }
            guard lines.count < SDPBounds.lines else { throw .tooLarge }
            guard let type = line.first, line.dropFirst().first == "=",
                line.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 9 })
            else { throw .malformed(line: lines.count + 1) }
            lines.append(SDPLine(type: type, value: line.dropFirst(2)))
        }
        guard lines.first == SDPLine(type: "v", value: "0") else { throw .malformed(line: 1) }
        return lines
    }
}

extension Substring {
    /// The words between single spaces.
    var words: [Substring] { split(separator: " ") }

    /// What is before the first separator, and what is behind it; nil without a separator.
    func cut(at separator: Character) -> (head: Substring, tail: Substring)? {
        guard let place = firstIndex(of: separator) else { return nil }
        return (self[..<place], self[index(after: place)...])
    }

    /// A payload type; nil for other text.
    var payloadType: UInt8? {
        guard utf8.count <= 3, utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt8(self), number < 128
        else { return nil }
        return number
    }
}
