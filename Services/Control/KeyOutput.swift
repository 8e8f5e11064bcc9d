internal import BusProtocol
internal import PostgresStore
internal import SignalingProtocol
internal import SignalingWire

/// A key of the server API as commands print it.
struct KeyOutput: PrintableRecord {
    private let record: APIKeyRecord
    /// The whole key; nil unless it has just been made.
    private let secret: String?

    init(_ record: APIKeyRecord, secret: String? = nil) {
        self.record = record
        self.secret = secret
    }

    var members: [JSONMember] {
        let key = record.key
        var members = [
            JSONMember("id", key.id),
            JSONMember("app", key.app?.rawValue),
            JSONMember("scopes", .array(key.scopes.words.map { .string($0) })),
            JSONMember("requestsPerSecond", key.requestsPerSecond),
            JSONMember("note", record.note),
            // In Unix milliseconds.
            JSONMember("createdAt", record.createdAt),
            JSONMember("expiresAt", key.expiry.map { $0 * 1000 }),
            JSONMember("revokedAt", record.revokedAt),
        ]
        if let secret { members.append(JSONMember("key", secret)) }
        return members
    }

    var line: String {
        let key = record.key
        let fields = [
            key.id, key.app.map { "app \($0)" } ?? "cluster", key.scopes.words.joined(separator: ","),
            "\(key.requestsPerSecond) requests/s", "created \(Output.time(milliseconds: record.createdAt))",
            key.expiry.map { "ends \(Output.time(milliseconds: $0 * 1000))" },
            record.revokedAt.map { "revoked \(Output.time(milliseconds: $0))" },
            record.note.isEmpty ? nil : record.note,
            secret.map { "key \($0)" },
        ]
        return fields.compactMap { $0 }.joined(separator: "  ")
    }

}
