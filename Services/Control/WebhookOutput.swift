internal import BusProtocol
internal import PostgresStore
internal import SignalingProtocol
internal import SignalingWire

/// A webhook as commands print it.
struct WebhookOutput: PrintableRecord {
    private let record: WebhookRecord
    private let showsSecret: Bool

    init(_ record: WebhookRecord, showsSecret: Bool = false) {
        self.record = record
        self.showsSecret = showsSecret
    }

    private var kinds: [String] {
        WebhookKind.allCases.filter(record.webhook.kinds.contains).map(\.rawValue)
    }

    var members: [JSONMember] {
        let webhook = record.webhook
        var members = [
            JSONMember("app", .string(webhook.app.rawValue)), JSONMember("url", .string(webhook.url.text)),
            JSONMember("kinds", .array(kinds.map { .string($0) })), JSONMember("batch", .number("\(webhook.batch)")),
            JSONMember("allowPrivate", .bool(webhook.allowed.contains(.privateOnes))),
            JSONMember("allowLoopback", .bool(webhook.allowed.contains(.loopback))),
            JSONMember("waiting", .number("\(record.events)")),
            // In seconds.
            JSONMember("oldest", Self.number(record.oldest)),
            JSONMember("dead", .number("\(record.dead)")), JSONMember("failures", .number("\(record.attempts)")),
            // In Unix milliseconds.
            JSONMember("failingSince", Self.number(record.failingSince)),
            JSONMember("deliveredAt", Self.number(record.deliveredAt)),
            JSONMember("lastError", record.lastError.map { .string($0) } ?? .null),
        ]
        if showsSecret { members.append(JSONMember("secret", .string(webhook.secret))) }
        return members
    }

    var line: String {
        let webhook = record.webhook
        let fields = [
            webhook.app.rawValue, webhook.url.text, kinds.joined(separator: ","), "up to \(webhook.batch) events",
            webhook.allowed.line, "\(record.events) waiting",
            record.oldest.map { "the oldest for \($0) s" }, "\(record.dead) dead",
            record.failingSince.map { "failing since \(Output.time(milliseconds: $0))" }, record.lastError,
            record.deliveredAt.map { "delivered \(Output.time(milliseconds: $0))" },
            showsSecret ? "secret \(webhook.secret)" : nil,
        ]
        return fields.compactMap { $0 }.joined(separator: "  ")
    }

    private static func number(_ value: Int64?) -> JSONValue { value.map { .number("\($0)") } ?? .null }
}

extension AllowedNetworks {
    init(private allowsPrivate: Bool, loopback allowsLoopback: Bool) {
        self = []
        if allowsPrivate { insert(.privateOnes) }
        if allowsLoopback { insert(.loopback) }
    }

    /// The phrase of a line; nil when none is allowed.
    var line: String? {
        let names = [contains(.privateOnes) ? "private networks" : nil, contains(.loopback) ? "loopback" : nil]
        return isEmpty ? nil : names.compactMap { $0 }.joined(separator: " and ") + " allowed"
    }
}

/// A dead letter as commands print it.
struct DeadLetterOutput: PrintableRecord {
    let letter: DeadLetter

    var members: [JSONMember] {
        [
            JSONMember("id", .string(letter.id)), JSONMember("kind", .string(letter.kind)),
            JSONMember("happenedAt", .number("\(letter.happenedAt)")),
            JSONMember("diedAt", .number("\(letter.diedAt)")), JSONMember("error", .string(letter.error)),
            JSONMember("body", .string(letter.body)),
        ]
    }

    var line: String {
        [
            letter.id, "died \(Output.time(milliseconds: letter.diedAt))", letter.error, letter.body,
        ].joined(separator: "  ")
    }
}
