internal import BusProtocol
internal import ClusterBus
internal import GatewayAPILogic
internal import SignalingProtocol
internal import SignalingWire

/// Lists of records.
extension APIPerformer {
    func perform(_ act: APIAct.Lists) async throws -> Outcome {
        switch act {
        case .page(let list): try await page(list)
        case .record(let list): try await record(list)
        }
    }

    private func page(_ list: ListRecords) async throws -> Outcome {
        let page = try await shards.next().ask(list)
        return Outcome(
            JSONMember(Self.name(of: list.list), try Self.records(page)),
            JSONMember("next", page.next))
    }

    private func record(_ list: ListRecords) async throws -> Outcome {
        guard case .array(let found) = try Self.records(try await shards.next().ask(list)), let record = found.first
        else { throw Self.missing(list.list) }
        return Outcome(record)
    }

    private static func missing(_ list: ListRecords.List) -> APIProblem {
        let setting: String? =
            switch list {
            case .webhook: "webhook"
            case .trunks: "trunk"
            case .hooks: "before-hook"
            default: nil
            }
        return APIProblem(
            .notFound, setting.map { "the app has no \($0), or there is no such app" } ?? "there is no such app",
            field: "app")
    }

    /// What a list is called in the answer.
    private static func name(of list: ListRecords.List) -> String {
        switch list {
        case .apps: "apps"
        case .users, .online: "users"
        case .channels: "channels"
        case .members: "members"
        case .calls, .open: "calls"
        case .bans: "bans"
        case .audit: "entries"
        case .usage: "usage"
        case .webhooks, .webhook: "webhooks"
        case .trunks: "trunks"
        case .hooks: "hooks"
        case .keys: "keys"
        }
    }

    private static func records(_ page: RecordPage) throws(SignalingError) -> JSONValue {
        do {
            return try JSONValue.parse(page.records.utf8)
        } catch {
            throw .unreadableAnswer
        }
    }
}
