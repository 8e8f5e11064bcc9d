internal import BusProtocol
internal import PostgresStore
internal import SignalingProtocol
internal import SignalingWire

/// An app as commands print it.
struct AppOutput: PrintableRecord {
    private let app: AppRecord
    /// Nil unless the command is to show it.
    private let certificate: String?

    init(_ app: AppRecord, withCertificate: Bool) {
        self.app = app
        certificate = withCertificate ? app.certificate : nil
    }

    var members: [JSONMember] {
        let limits = app.limits
        var members = AppLimits.all.map { JSONMember($0.name, limits[$0]) }
        members += [
            JSONMember("appId", app.id.rawValue),
            JSONMember("tokenRequired", app.tokenRequired),
            JSONMember("specialChannels", limits.specialChannelsOpen ? "open" : "closed"),
            JSONMember("messageEvents", limits.streamedMessages?.rawValue ?? "none"),
            // In Unix milliseconds.
            JSONMember("createdAt", app.createdAt),
        ]
        if let certificate { members.append(JSONMember("certificate", certificate)) }
        return members
    }

    var line: String {
        let limits = app.limits
        let fields = [
            app.id.rawValue, app.tokenRequired ? "token required" : "open",
            "\(limits.messagesPerSecond) messages/s of a session, \(limits.channelMessagesPerSecond) of a channel",
            others,
            "created \(Output.time(milliseconds: app.createdAt))",
            certificate.map { "certificate \($0)" },
        ]
        return fields.compactMap { $0 }.joined(separator: "  ")
    }

    /// The limits that the operator has set, other than message rates.
    private var others: String? {
        let limits = app.limits
        var texts = AppLimits.all.dropFirst(2).filter { limits[$0] != $0.standard }.map { "\($0.name) \(limits[$0])" }
        if !limits.specialChannelsOpen { texts.append("special channels closed") }
        if let detail = limits.streamedMessages { texts.append("messages streamed \(detail.rawValue)") }
        return texts.isEmpty ? nil : texts.joined(separator: ", ")
    }
}
