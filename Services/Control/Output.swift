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
    /// Nil unless the command is meant to show it.
    var certificate: String?
    var tokenRequired: Bool
    /// By name; each is a member of the JSON object.
    var limits: AppLimits
    /// Unix milliseconds.
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

    /// Limits that the operator has set, besides the rates of messages.
    private var others: String? {
        var texts = AppLimits.all.dropFirst(2).filter { limits[$0] != $0.standard }.map { "\($0.name) \(limits[$0])" }
        if !limits.specialChannelsOpen { texts.append("special channels closed") }
        return texts.isEmpty ? nil : texts.joined(separator: ", ")
    }

    /// One line for people.
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

/// What commands print.
enum Output {
    /// Prints one JSON object, its keys sorted.
    static func json(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        print(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// `2026-01-31T12:00:00Z`.
    static func time(milliseconds: Int64) -> String {
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let length = strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: text[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
