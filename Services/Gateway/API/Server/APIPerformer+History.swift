internal import GatewayAPILogic
internal import SignalingProtocol
internal import SignalingWire

/// The logs of channels.
extension APIPerformer {
    /// Reads a page of a channel's log.
    func history(of channel: ChannelKey, _ page: HistoryPage) async throws(SignalingError) -> HistoryPage {
        var page = page
        let shard = shards.next()
        while true {
            let part = try await shard.readLog(channel, after: page.position)
            if !page.take(part) { break }
        }
        return page
    }

    static func history(_ page: HistoryPage) -> JSONValue {
        let events = page.events.map { page.onlyMessages ? message($0) : event($0) }
        return .object([
            JSONMember(page.onlyMessages ? "messages" : "events", .array(events)),
            JSONMember("complete", .bool(page.isComplete)),
            JSONMember("next", page.hasNext ? .string(String(page.position.id)) : .null),
        ])
    }

    private static func message(_ event: ChannelEvent) -> JSONValue {
        var text = ""
        if case .message(let body) = event.kind { text = body }
        return .object(head(of: event) + [JSONMember("message", .string(text))])
    }

    private static func event(_ event: ChannelEvent) -> JSONValue {
        var message: String?
        var name: String?
        var value: String?
        let word: String
        switch event.kind {
        case .message(let text):
            word = "message"
            message = text
        case .joined: word = "join"
        case .left: word = "leave"
        case .attributes(.update(let attribute)):
            word = "attribute_set"
            name = attribute.name.rawValue
            value = attribute.value
        case .attributes(.delete(let deleted)):
            word = "attribute_deleted"
            name = deleted.rawValue
        case .attributes(.clear): word = "attributes_cleared"
        }
        return .object(
            head(of: event) + [
                JSONMember("event", .string(word)), text("message", message), text("name", name), text("value", value),
            ])
    }

    private static func head(of event: ChannelEvent) -> [JSONMember] {
        [
            JSONMember("id", .number(String(event.id))), JSONMember("account", .string(event.account.rawValue)),
            JSONMember("uid", .number(String(event.uid))),
            // An id is a time in microseconds.
            JSONMember("time", .number(String(event.id / 1_000_000))),
        ]
    }

    private static func text(_ name: String, _ text: String?) -> JSONMember {
        JSONMember(name, text.map { .string($0) } ?? .null)
    }
}
