/// Several channels in one field of a session's record in Redis: one name per line. A name contains no line feed.
package enum ChannelLines {
    /// Parses the field; lines that are no valid names are left out.
    package static func channels(_ text: String) -> [ChannelName] {
        text.utf8.split(separator: UInt8(ascii: "\n")).compactMap { try? ChannelName(String(Substring($0))) }
    }

    /// The field's text.
    package static func text(_ channels: [ChannelName]) -> String {
        channels.map(\.rawValue).joined(separator: "\n")
    }
}
