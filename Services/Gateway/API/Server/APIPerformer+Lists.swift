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
        case .usage(let list): try await usage(list)
        }
    }

    private func page(_ list: ListRecords) async throws -> Outcome {
        let page = try await shards.next().ask(list)
        return Outcome(
            JSONMember(Self.name(of: list.list), try Self.records(page)),
            JSONMember("next", page.next))
    }

    private func usage(_ list: ListRecords) async throws -> Outcome {
        guard case .array(let found) = try Self.records(try await shards.next().ask(list)), let usage = found.first
        else { throw APIProblem(.notFound, "there is no such app", field: "app") }
        return Outcome(usage)
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
        case .audit: "audit"
        case .usage: "usage"
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
