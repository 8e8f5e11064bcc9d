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
    /// Only where the command's purpose is to show it.
    var certificate: String?
    var tokenRequired: Bool
    /// Messages of a session a second; 1,000,000: no limit.
    var messagesPerSecond: Int
    /// Messages of a channel a second; 1,000,000: no limit.
    var channelMessagesPerSecond: Int
    /// Unix milliseconds.
    var createdAt: Int64

    init(_ app: AppRecord, withCertificate: Bool) {
        appId = app.id.rawValue
        certificate = withCertificate ? app.certificate : nil
        tokenRequired = app.tokenRequired
        messagesPerSecond = app.limits.messagesPerSecond
        channelMessagesPerSecond = app.limits.channelMessagesPerSecond
        createdAt = app.createdAt
    }

    /// One line for people.
    var line: String {
        let fields = [
            appId, tokenRequired ? "token required" : "open",
            "\(messagesPerSecond) messages/s of a session, \(channelMessagesPerSecond) of a channel",
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
