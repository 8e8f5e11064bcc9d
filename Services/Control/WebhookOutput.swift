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
            JSONMember("app", webhook.key.app.rawValue), JSONMember("name", webhook.key.name.rawValue),
            JSONMember("url", webhook.url.text),
            JSONMember("kinds", .array(kinds.map { .string($0) })), JSONMember("messageText", webhook.messageText),
            JSONMember("batch", webhook.batch),
            JSONMember("allowPrivate", webhook.allowed.contains(.privateOnes)),
            JSONMember("allowLoopback", webhook.allowed.contains(.loopback)),
            // Until when the secret before signs too, in Unix milliseconds.
            JSONMember("formerSecretUntil", record.formerSecretUntil),
            JSONMember("waiting", record.events),
            // In seconds.
            JSONMember("oldest", record.oldest),
            JSONMember("dead", record.dead), JSONMember("failures", record.attempts),
            // In Unix milliseconds.
            JSONMember("failingSince", record.failingSince),
            JSONMember("deliveredAt", record.deliveredAt),
            JSONMember("lastError", record.lastError),
        ]
        if showsSecret {
            members.append(JSONMember("secret", webhook.secret))
            members.append(JSONMember("formerSecret", webhook.formerSecret))
        }
        return members
    }

    var line: String {
        let webhook = record.webhook
        let fields = [
            webhook.key.description, webhook.url.text,
            kinds.joined(separator: ",") + (webhook.messageText ? " with texts" : ""),
            "up to \(webhook.batch) events",
            webhook.allowed.line, "\(record.events) waiting",
            record.oldest.map { "the oldest for \($0) s" }, "\(record.dead) dead",
            record.failingSince.map { "failing since \(Output.time(milliseconds: $0))" }, record.lastError,
            record.deliveredAt.map { "delivered \(Output.time(milliseconds: $0))" },
            showsSecret ? "secret \(webhook.secret)" : nil,
            record.formerSecretUntil.map { "the secret before signs until \(Output.time(milliseconds: $0))" },
            showsSecret ? webhook.formerSecret.map { "it is \($0)" } : nil,
        ]
        return fields.compactMap { $0 }.joined(separator: "  ")
    }

}

extension AllowedNetworks {
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
            JSONMember("id", letter.id), JSONMember("kind", letter.kind),
            JSONMember("happenedAt", letter.happenedAt),
            JSONMember("diedAt", letter.diedAt), JSONMember("error", letter.error),
            JSONMember("body", letter.body),
        ]
    }

    var line: String {
        [
            letter.id, "died \(Output.time(milliseconds: letter.diedAt))", letter.error, letter.body,
        ].joined(separator: "  ")
    }
}
