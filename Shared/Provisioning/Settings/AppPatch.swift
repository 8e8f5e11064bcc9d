package import BusProtocol
internal import PostgresStore
internal import SignalingProtocol
internal import SignalingWire

/// What is to be changed of an app itself; what is nil stays.
package struct AppPatch: Equatable, Sendable {
    /// Whether the special channels can be joined, as files and options say it.
    package enum SpecialChannels: String, Sendable, CaseIterable {
        case open
        case closed
    }

    /// Which messages the server API's streams of events tell of, as files and options say it.
    package enum MessageEvents: String, Sendable, CaseIterable {
        case none
        case withoutText = "without-text"
        case withText = "with-text"
    }

    static let certificateBytes = 1...128

    /// Whether logins need a token.
    package var tokenRequired: Bool?
    /// The secret that tokens are made with.
    package var certificate: String?
    /// Numeric limits by name (``BusProtocol/AppLimits/all``).
    package var limits: [String: Int] = [:]
    /// Whether clients may join the special channels.
    package var specialChannels: SpecialChannels?
    /// Whether streams of events tell of messages.
    package var messageEvents: MessageEvents?

    /// Changes nothing.
    package init() {}

    /// Whether a text can be a certificate: 1 to 128 visible ASCII characters.
    package static func isCertificate(_ text: String) -> Bool {
        certificateBytes.contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Checks each value by itself.
    package func check() throws(SettingProblem) {
        try checkLimits()
        if let certificate, !Self.isCertificate(certificate) {
            throw SettingProblem("certificate", "must have 1 to 128 visible ASCII characters")
        }
    }

    private func checkLimits() throws(SettingProblem) {
        for limit in AppLimits.all { try Rule.check(limits[limit.name], of: limit.name, in: limit.range) }
    }

    /// Sets the limits that are named.
    package func apply(to changed: inout AppLimits) {
        for limit in AppLimits.all {
            if let value = limits[limit.name] { changed[limit] = value }
        }
        if let specialChannels { changed.specialChannelsOpen = specialChannels == .open }
        if let messageEvents { changed.streamedMessages = MessageDetail(rawValue: messageEvents.rawValue) }
    }
}

extension AppLimits {
    /// The limits as files have them, with all names.
    var members: [JSONMember] {
        AppLimits.all.map { JSONMember($0.name, self[$0]) } + [
            JSONMember("specialChannels", specialChannelsOpen ? "open" : "closed"),
            JSONMember("messageEvents", streamedMessages?.rawValue ?? "none"),
        ]
    }
}

extension AppPatch {
    /// Reads and checks the limits of an app.
    mutating func readLimits(_ file: FilePlace) throws(SettingProblem) {
        for (name, place) in try file.members(AppLimits.all.map(\.name) + ["specialChannels", "messageEvents"]) {
            switch name {
            case "specialChannels": specialChannels = try place.word()
            case "messageEvents": messageEvents = try place.word()
            default: limits[name] = try place.integer()
            }
        }
        do throws(SettingProblem) { try checkLimits() } catch { throw error.within(file) }
    }
}
