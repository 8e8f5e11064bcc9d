package import SignalingProtocol

/// The bounds of a session description (RFC 8866).
package enum SDPBounds {
    /// The greatest description, in bytes.
    package static let bytes = 65_536
    /// The lines of a description; a browser's with six audio and nine video slots has some 1,800.
    package static let lines = 4000
    /// The media sections of a description.
    package static let sections = 64
}

/// Why a session description is refused; ``refusal`` is the reason that the call is answered with.
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
        /// No user name fragment or password of ICE.
        case ice
        /// Audio or video, but in no codec that this server forwards.
        case codecs
        /// No section that this server could take.
        case nothing
    }
}

extension SDPError {
    /// What the participant is told.
    package var refusal: MediaRefusal {
        switch self {
        case .unsuitable(.codecs): .unsupportedMedia
        case .tooLarge, .malformed, .unsuitable: .badOffer
        }
    }
}

/// One line of a description: a letter and a value.
struct SDPLine: Equatable {
    var type: UInt8
    var value: Substring

    /// Reads the lines of a description, which end with CR LF or LF.
    static func lines(of text: String) throws(SDPError) -> [SDPLine] {
        var text = text
        // Bytes are searched, not characters, whose bounds take long to find. Text of other
        // languages is copied once for that.
        text.makeContiguousUTF8()
        guard text.utf8.count <= SDPBounds.bytes else { throw .tooLarge }
        var lines: [SDPLine] = []
        for var line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            // The last line ends too.
            if line.isEmpty && line.endIndex == text.endIndex { break }
            guard lines.count < SDPBounds.lines else { throw .tooLarge }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            guard let type = line.first, line.dropFirst().first == UInt8(ascii: "="),
                line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 9 })
            else { throw .malformed(line: lines.count + 1) }
            lines.append(SDPLine(type: type, value: Substring(line.dropFirst(2))))
        }
        guard lines.first == SDPLine(type: UInt8(ascii: "v"), value: "0") else { throw .malformed(line: 1) }
        return lines
    }
}

extension Substring {
    /// The words between spaces.
    var words: [Substring] { parts(between: " ") }

    /// What is between the separators, as far as it is not empty.
    func parts(between separator: Unicode.Scalar) -> [Substring] {
        utf8.split(separator: UInt8(ascii: separator)).map(Substring.init)
    }

    /// What is before the first separator, and what is behind it; nil without a separator.
    func cut(at separator: Unicode.Scalar) -> (head: Substring, tail: Substring)? {
        guard let place = utf8.firstIndex(of: UInt8(ascii: separator)) else { return nil }
        return (Substring(utf8[..<place]), Substring(utf8[utf8.index(after: place)...]))
    }

    /// A payload type; nil for other text.
    var payloadType: UInt8? {
        guard utf8.count <= 3, utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt8(self), number < 128
        else { return nil }
        return number
    }
}
