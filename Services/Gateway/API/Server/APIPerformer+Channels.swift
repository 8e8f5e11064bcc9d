internal import BusProtocol
internal import ClusterState
internal import GatewayAPILogic
internal import MessageStore
internal import SignalingProtocol
internal import SignalingWire

/// Channels: their members and logs.
extension APIPerformer {
    /// Members that one call of channel-state reads.
    private static let membersOfCall = 250

    func perform(_ act: APIAct.Channels) async throws -> Outcome {
        switch act {
        case .get(let channel): try await get(channel)
        case .listMembers(let channel, let limit): try await listMembers(of: channel, limit: limit)
        case .getMember(let channel, let account): try await getMember(account, of: channel)
        case .readHistory(let channel, let page): try await readHistory(of: channel, page)
        }
    }

    private func get(_ channel: ChannelKey) async throws -> Outcome {
        let members = try await shards.next().ask(CountMembers(channel: channel))
        return Outcome(
            JSONMember("channel", channel.name.rawValue), JSONMember("members", members.count))
    }

    private func listMembers(of channel: ChannelKey, limit: Int) async throws -> Outcome {
        let list = try await shards.next().ask(ListMembers(channel: channel, limit: limit))
        let members = list.members.map { member -> JSONValue in
            .object([Self.account(member.account), JSONMember("uid", member.uid)])
        }
        return Outcome(
            JSONMember("total", list.total), JSONMember("members", .array(members)),
            work: APIWork(calls: 1 + list.members.count / Self.membersOfCall))
    }

    private func getMember(_ account: Account, of channel: ChannelKey) async throws -> Outcome {
        let status = try await shards.next().ask(QueryMember(channel: channel, account: account))
        return Outcome(Self.account(account), JSONMember("member", status.isMember))
    }

    // MARK: - Logs

    private func readHistory(of channel: ChannelKey, _ page: HistoryPage) async throws -> Outcome {
        var page = page
        let shard = shards.next()
        while !page.range.isEmpty {
            let part =
                page.range.isDescending
                ? try await shard.messages.readLogBack(channel, before: page.position.id, above: page.range.above)
                : try await shard.readLog(ChannelKeys(channel), after: page.position)
            if !page.take(part) { break }
        }
        return Outcome(Self.history(page), work: page.work)
    }

    private static func history(_ page: HistoryPage) -> JSONValue {
        let events = page.events.map { page.onlyMessages ? message($0) : event($0) }
        return .object([
            JSONMember(page.onlyMessages ? "messages" : "events", .array(events)),
            JSONMember("complete", page.isComplete),
            JSONMember("next", page.hasNext ? .string(String(page.position.id)) : .null),
        ])
    }

    private static func message(_ event: ChannelEvent) -> JSONValue {
        var text = ""
        if case .message(let body) = event.kind { text = body }
        return .object(head(of: event) + [JSONMember("message", text)])
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
                JSONMember("event", word), JSONMember("message", message), JSONMember("name", name),
                JSONMember("value", value),
            ])
    }

    private static func head(of event: ChannelEvent) -> [JSONMember] {
        [
            JSONMember("id", event.id), JSONMember("account", event.account.rawValue),
            JSONMember("uid", event.uid),
            // An id is a time in microseconds.
            JSONMember("time", event.id / 1_000_000),
        ]
    }

}
