package import SignalingProtocol

/// The name of one of an app's webhooks.
package struct WebhookName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// What a name is, in the words of errors.
    package static let rule = "a name of 1 to 32 characters a-z, 0-9 and -, the first one a letter"
    /// The one that is meant where none is named.
    package static let standard = WebhookName(unchecked: "default")

    package let rawValue: String

    /// Nil for a text that is not ``rule``.
    package init?(_ rawValue: String) {
        guard rawValue.wholeMatch(of: #/[a-z][a-z0-9-]{0,31}/#) != nil else { return nil }
        self.init(unchecked: rawValue)
    }

    private init(unchecked rawValue: String) { self.rawValue = rawValue }

    package static func < (one: WebhookName, other: WebhookName) -> Bool { one.rawValue < other.rawValue }

    package var description: String { rawValue }
}

/// One of an app's webhooks.
package struct WebhookKey: Hashable, Sendable, CustomStringConvertible {
    /// How many an app has at most.
    package static let mostOfApp = 16

    /// The app.
    package let app: AppID
    /// Its name among the app's.
    package let name: WebhookName

    package init(app: AppID, name: WebhookName = .standard) {
        self.app = app
        self.name = name
    }

    /// `APP` for the standard one, `APP/NAME` for others.
    package var description: String { name == .standard ? app.rawValue : "\(app)/\(name)" }
}
