/// The id of an app (a tenant); `vid` on the wire. 1...64 visible ASCII characters, case sensitive.
package struct AppID: ByteIdentifier {
    /// The id's text, as clients have it.
    package let rawValue: String

    /// Validates an id.
    /// - Throws: `SignalingError` with ``SignalingCode/wrongParameter`` when the text is not a valid app id.
    package init(_ rawValue: String) throws(SignalingError) {
        guard (1...Limits.appIDBytes).contains(rawValue.utf8.count),
            rawValue.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw SignalingError(
                .wrongParameter, .invalidAppID, "an app id must have 1 to \(Limits.appIDBytes) visible ASCII characters"
            )
        }
        self.rawValue = rawValue
    }
}

/// A user of an app, as the app names them. 1...128 bytes of UTF-8 without white space and control characters.
///
/// Source: Signaling API, "login" (`account`); white space is refused because the account is a field of a
/// space-separated line.
package struct Account: ByteIdentifier {
    /// The account's text, as clients have it.
    package let rawValue: String

    /// Validates an account.
    /// - Throws: `SignalingError` with ``SignalingCode/invalidUser``.
    package init(_ rawValue: String) throws(SignalingError) {
        guard (1...Limits.accountBytes).contains(rawValue.utf8.count),
            rawValue.isVisibleASCII
                || rawValue.unicodeScalars.allSatisfy({ !$0.properties.isWhitespace && !$0.isControl })
        else {
            throw SignalingError(
                .invalidUser, .invalidAccount,
                "an account must have 1 to \(Limits.accountBytes) bytes, without white space and control characters")
        }
        self.rawValue = rawValue
    }
}

/// The name of a channel within an app. 1...128 bytes of UTF-8 without control characters; spaces are allowed.
package struct ChannelName: ByteIdentifier {
    /// The name's text, as clients have it, but special channels in their canonical spelling.
    package let rawValue: String

    /// Validates a name; both spellings of a special channel become one.
    /// - Throws: `SignalingError` with ``SignalingCode/wrongParameter``.
    package init(_ rawValue: String) throws(SignalingError) {
        guard rawValue.isName(of: 1...Limits.channelNameBytes) else {
            throw SignalingError(
                .wrongParameter, .invalidChannel,
                "a channel name must have 1 to \(Limits.channelNameBytes) bytes, without control characters")
        }
        self.rawValue = SpecialChannel(spelling: rawValue)?.rawValue ?? rawValue
    }

    /// Creates the name of a special channel.
    package init(_ special: SpecialChannel) {
        rawValue = special.rawValue
    }

    /// The special channel with this name; nil for an ordinary channel.
    package var special: SpecialChannel? { SpecialChannel(rawValue: rawValue) }
}

/// Channels in which the system informs an app's servers. The documents differ in the number of leading underscores;
/// both spellings mean the same channel.
package enum SpecialChannel: String, Sendable, CaseIterable {
    /// Announces every login and every user that goes offline.
    case userOnline = "_agora_user_online"
    /// Announces every join and leave.
    case channelEvent = "_agora_channel_event"

    init?(spelling: String) {
        self.init(rawValue: spelling.hasPrefix("__") ? String(spelling.dropFirst()) : spelling)
    }
}

/// The name of a user's or channel's attribute. 1...128 bytes of UTF-8 without control characters; a leading underscore
/// is reserved for built-in attributes.
package struct AttributeName: ByteIdentifier {
    /// The name's text, as clients have it.
    package let rawValue: String

    /// Validates a name.
    /// - Throws: `SignalingError` with ``SignalingCode/wrongParameter``.
    package init(_ rawValue: String) throws(SignalingError) {
        guard rawValue.isName(of: 1...Limits.attributeNameBytes) else {
            throw SignalingError(
                .wrongParameter, .invalidAttributeName,
                "an attribute name must have 1 to \(Limits.attributeNameBytes) bytes, without control characters")
        }
        self.rawValue = rawValue
    }
}

/// Names that come into use. ``Account/init(_:)`` and the like also read what was stored, and name what exists already.
///
/// `.` and `..` are refused: HTTP clients leave such segments out of paths, as URLs ask of them, even
/// when they are escaped. Who bears such a name could not be banned, and such an attribute not be
/// deleted, by most users of the server API.
extension Account {
    /// Validates an account that logs in, or that something is sent to.
    /// - Throws: `SignalingError` with ``SignalingCode/invalidUser``.
    package init(new rawValue: String) throws(SignalingError) {
        try self.init(rawValue)
        if rawValue.isDotSegment {
            throw SignalingError(.invalidUser, .invalidAccount, "an account must not be . or ..")
        }
    }
}

extension ChannelName {
    /// Validates the name of a channel that is joined, or used without being joined.
    /// - Throws: `SignalingError` with ``SignalingCode/wrongParameter``.
    package init(new rawValue: String) throws(SignalingError) {
        try self.init(rawValue)
        if rawValue.isDotSegment {
            throw SignalingError(.wrongParameter, .invalidChannel, "a channel name must not be . or ..")
        }
    }
}

extension AttributeName {
    /// Validates the name of an attribute that is set.
    /// - Throws: `SignalingError` with ``SignalingCode/wrongParameter``.
    package init(new rawValue: String) throws(SignalingError) {
        try self.init(rawValue)
        if rawValue.isDotSegment {
            throw SignalingError(.wrongParameter, .invalidAttributeName, "an attribute name must not be . or ..")
        }
    }
}

/// A user of an app. Accounts of different apps are unrelated even when their text is equal.
package struct UserKey: Hashable, Sendable {
    /// The app.
    package let app: AppID
    /// The user's account within the app.
    package let account: Account

    package init(app: AppID, account: Account) {
        self.app = app
        self.account = account
    }
}

/// A channel of an app.
package struct ChannelKey: Hashable, Sendable {
    /// The app.
    package let app: AppID
    /// The channel's name within the app.
    package let name: ChannelName

    package init(app: AppID, name: ChannelName) {
        self.app = app
        self.name = name
    }
}

extension String {
    /// Whether all bytes are visible ASCII, as in most names: Unicode's tables then need not be consulted.
    var isVisibleASCII: Bool { utf8.allSatisfy { (0x21...0x7E).contains($0) } }

    /// Whether it is a segment that has a meaning of its own in paths (RFC 3986, section 5.2.4).
    var isDotSegment: Bool { self == "." || self == ".." }

    /// Whether it has so many bytes and no control characters.
    func isName(of bytes: ClosedRange<Int>) -> Bool {
        bytes.contains(utf8.count) && (isVisibleASCII || unicodeScalars.allSatisfy { !$0.isControl })
    }
}

extension Unicode.Scalar {
    var isControl: Bool { properties.generalCategory == .control }
}
