package import BusProtocol
package import PostgresStore
internal import SignalingWire

/// What is to be changed of a webhook; what is nil stays.
package struct WebhookPatch: Equatable, Sendable {
    /// Where events are posted to; a new webhook needs it.
    package var url: WebhookURL?
    /// Signs the requests; a new webhook gets a random one.
    package var secret: String?
    /// Which events; at first ``BusProtocol/WebhookKind/standard``.
    package var kinds: [WebhookKind]?
    /// Whether events about messages have texts.
    package var messageText: Bool?
    /// Events in one request.
    package var batch: Int?
    /// Whether the URL may lead into private networks.
    package var allowsPrivate: Bool?
    /// Whether the URL may lead to loopback.
    package var allowsLoopback: Bool?

    /// Changes nothing.
    package init() {}

    /// Checks each value by itself, and texts of messages against the kinds that are named.
    package func check() throws(SettingProblem) {
        try Rule.check(batch, of: "batch", in: Webhook.batches)
        try Rule.check(secret: secret, bytes: Webhook.secretBytes)
        guard messageText != true || kinds?.contains(.message) ?? true else { throw Self.lacksMessages }
    }

    private static let lacksMessages = SettingProblem("messageText", "needs message among the kinds")

    /// The webhook after the change. Texts of messages end where the kinds leave messages out.
    /// - Parameters:
    ///   - former: the webhook before; nil for a new one.
    ///   - newSecret: makes the secret of a new webhook.
    /// - Throws: ``SettingProblem`` when a new one has no URL, or texts are asked for without messages.
    package func applied(
        to former: Webhook?, of key: WebhookKey, newSecret: () -> String
    ) throws(SettingProblem) -> Webhook {
        guard let url = url ?? former?.url else { throw SettingProblem("url", "is needed for a new webhook") }
        var webhook = former ?? Webhook(key, url: url, secret: secret ?? newSecret())
        webhook.url = url
        webhook.secret = secret ?? webhook.secret
        if let kinds { webhook.kinds = Set(kinds) }
        webhook.batch = batch ?? webhook.batch
        webhook.allowed = webhook.allowed.changed(private: allowsPrivate, loopback: allowsLoopback)
        let tellsMessages = webhook.kinds.contains(.message)
        guard messageText != true || tellsMessages else { throw Self.lacksMessages }
        webhook.messageText = tellsMessages && messageText ?? webhook.messageText
        return webhook
    }
}

extension Webhook {
    /// The webhook as files have it, without its secrets.
    var members: [JSONMember] {
        [
            JSONMember("url", url.text),
            JSONMember("kinds", .array(WebhookKind.allCases.filter(kinds.contains).map { .string($0.rawValue) })),
            JSONMember("messageText", messageText), JSONMember("batch", batch),
            JSONMember("allowPrivate", allowed.contains(.privateOnes)),
            JSONMember("allowLoopback", allowed.contains(.loopback)),
        ]
    }
}

extension WebhookPatch {
    private static let names = [
        "url", "secret", "kinds", "messageText", "batch", "allowPrivate", "allowLoopback", "remove",
    ]

    /// Reads and checks a webhook.
    init(_ file: FilePlace, secrets: SecretSource) throws(SettingProblem) {
        self.init()
        for (name, place) in try file.members(Self.names) {
            switch name {
            case "url": url = try place.url()
            case "secret": secret = try place.secret(from: secrets)
            case "kinds": kinds = try place.words()
            case "messageText": messageText = try place.flag()
            case "batch": batch = try place.integer()
            case "allowPrivate": allowsPrivate = try place.flag()
            default: allowsLoopback = try place.flag()
            }
        }
        do throws(SettingProblem) { try check() } catch { throw error.within(file) }
    }
}
