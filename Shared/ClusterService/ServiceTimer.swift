package import SignalingProtocol

/// What a timer of a service is for. In the service's sorted set of timers it stands as a line of words.
package protocol ServiceTimer: Sendable {
    /// Reads the words of a timer; nil for words that no version of the service has written.
    init?(words: [String])
    /// The timer's kind, then what it is about; unique within the service. No word is empty.
    var words: [String] { get }
    /// What it is about: the timer is kept in the partition that is responsible for it.
    var subject: Subject { get }
}

/// For services without timers.
extension Never: ServiceTimer {
    package init?(words: [String]) { return nil }
    package var words: [String] { switch self {} }
    package var subject: Subject { switch self {} }
}

/// The form of timers in Redis: words separated by single spaces, as `LeaseFleet` writes them too. Names chosen by
/// clients may hold spaces, so `%` and the space are percent-escaped.
extension ServiceTimer {
    /// Parses a member of the set; nil for text that no version of the service has written.
    package init?(member: String) {
        var words: [String] = []
        for word in member.split(separator: " ", omittingEmptySubsequences: false) {
            guard !word.isEmpty, let text = PercentEscape.unescape(String(word)) else { return nil }
            words.append(text)
        }
        self.init(words: words)
    }

    /// The member of the set.
    package var member: String { words.map(Self.escape).joined(separator: " ") }

    private static func escape(_ word: String) -> String {
        guard word.utf8.contains(where: isEscaped) else { return word }
        return PercentEscape.escape(word) { !isEscaped($0) }
    }

    private static func isEscaped(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "%") }
}
