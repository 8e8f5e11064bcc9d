/// The name of a media channel within an app: 1 to 64 of 90 ASCII characters. Source:
/// Native SDK 1.4, `joinChannelByKey`.
package struct MediaChannelName: ByteIdentifier {
    /// The bytes of a name.
    package static let bytes = 1...64

    /// The name's text, as clients have it.
    package let rawValue: String

    /// Validates a name.
    /// - Throws: ``MediaRefusal/invalidChannel``.
    package init(_ rawValue: String) throws(MediaRefusal) {
        guard Self.bytes.contains(rawValue.utf8.count), rawValue.utf8.allSatisfy(Self.isAllowed) else {
            throw .invalidChannel
        }
        self.rawValue = rawValue
    }

    /// All visible characters of ASCII and the space, but for quotation marks, the
    /// asterisk, the slash and the backslash.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "/"), UInt8(ascii: "\\"): false
        default: (0x20...0x7E).contains(byte)
        }
    }
}

/// A media channel of an app. It has nothing but its name in common with the channel of messages of that name.
package struct MediaChannelKey: Hashable, Sendable {
    /// The app.
    package let app: AppID
    /// The channel's name within the app.
    package let name: MediaChannelName

    package init(app: AppID, name: MediaChannelName) {
        self.app = app
        self.name = name
    }
}
