internal import SignalingProtocol

/// Lists that are read page by page.
extension APIRequest {
    func listing(_ query: APIQuery) throws(APIProblem) -> APIAct {
        let app = try app()
        switch route {
        case .listApps: return .list(try page(.apps, of: nil, query))
        case .listUsers:
            let isAll = try query.word("state", of: ["online", "all"]) == "all"
            return .list(try page(isAll ? .users : .online, of: app, query))
        case .listChannels: return .list(try page(.channels, of: app, query))
        case .listCalls:
            let isAll = try query.word("state", of: ["all", "open"]) == "all"
            let list = try page(isAll ? .calls : .open, of: app, query)
            guard list.after.isEmpty || Self.isPositionOfCall(list.after) else {
                throw APIProblem.invalid("after", "the `next` of a page")
            }
            return .list(list)
        default:
            return .getUsage(
                ListRecords(.usage, app: app, limit: try query.integer("days", in: APIAct.usageDays, standard: 30)))
        }
    }

    /// The members of a channel by name, if the request has a position.
    func membersByName(_ query: APIQuery) throws(APIProblem) -> APIAct? {
        guard try query.text("after", bytes: APIAct.positionBytes) != nil else { return nil }
        var list = try page(.members, of: try app(), query)
        list.channel = try APINames.channel(match.parameters["channel"] ?? "")
        return .list(list)
    }

    private func page(_ list: ListRecords.List, of app: AppID?, _ query: APIQuery) throws(APIProblem) -> ListRecords {
        ListRecords(
            list, app: app, prefix: try query.text("prefix", bytes: APIAct.prefixBytes) ?? "",
            after: try query.text("after", bytes: APIAct.positionBytes) ?? "",
            limit: try query.integer("limit", in: APIAct.pageRecords, standard: 100))
    }

    /// Whether a text is a time in microseconds that PostgreSQL knows, a dot, and an id.
    private static func isPositionOfCall(_ text: String) -> Bool {
        guard let dot = text.firstIndex(of: "."), let time = Int64(text[..<dot]) else { return false }
        return (0...253_402_300_799_999_999).contains(time)
    }
}

extension APIRoute {
    /// The names of the parameters after the question mark.
    var parameters: [String] {
        switch self {
        case .listApps, .listMembers: ["limit", "after"]
        case .listUsers: ["state", "prefix", "limit", "after"]
        case .listChannels: ["prefix", "limit", "after"]
        case .listCalls: ["state", "limit", "after"]
        case .getUsage: ["days"]
        default: []
        }
    }
}
