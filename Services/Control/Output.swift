internal import Glibc
internal import PostgresStore
internal import SignalingProtocol

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An app as commands print it.
struct AppOutput: Encodable {
    var appId: String
    /// Nil unless the command is to show it.
    var certificate: String?
    var tokenRequired: Bool
    /// Printed as members of the JSON object, by name.
    var limits: AppLimits
    /// In Unix milliseconds.
    var createdAt: Int64

    init(_ app: AppRecord, withCertificate: Bool) {
        appId = app.id.rawValue
        certificate = withCertificate ? app.certificate : nil
        tokenRequired = app.tokenRequired
        limits = app.limits
        createdAt = app.createdAt
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(appId, forKey: Key(stringValue: "appId"))
        try container.encodeIfPresent(certificate, forKey: Key(stringValue: "certificate"))
        try container.encode(tokenRequired, forKey: Key(stringValue: "tokenRequired"))
        for limit in AppLimits.all { try container.encode(limits[limit], forKey: Key(stringValue: limit.name)) }
        try container.encode(
            limits.specialChannelsOpen ? "open" : "closed", forKey: Key(stringValue: "specialChannels"))
        try container.encode(createdAt, forKey: Key(stringValue: "createdAt"))
    }

    /// The limits that the operator has set, other than message rates.
    private var others: String? {
        var texts = AppLimits.all.dropFirst(2).filter { limits[$0] != $0.standard }.map { "\($0.name) \(limits[$0])" }
        if !limits.specialChannelsOpen { texts.append("special channels closed") }
        return texts.isEmpty ? nil : texts.joined(separator: ", ")
    }

    /// The app as one line of text.
    var line: String {
        let fields = [
            appId, tokenRequired ? "token required" : "open",
            "\(limits.messagesPerSecond) messages/s of a session, \(limits.channelMessagesPerSecond) of a channel",
            others,
            "created \(Output.time(milliseconds: createdAt))",
            certificate.map { "certificate \($0)" },
        ]
        return fields.compactMap { $0 }.joined(separator: "  ")
    }
}

/// Prints the results of commands.
enum Output {
    /// Prints a JSON object with sorted keys.
    static func json(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        print(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// Formats a time as `2026-01-31T12:00:00Z`.
    static func time(milliseconds: Int64) -> String {
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let length = strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: text[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
