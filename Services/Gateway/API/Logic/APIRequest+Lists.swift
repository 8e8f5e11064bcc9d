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
        case .listBans: return .list(try page(.bans, of: app, query))
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

    /// A stream of events. The header has priority over the parameter, which a client keeps when it connects again.
    func following(_ query: APIQuery) throws(APIProblem) -> APIAct {
        let words = try query.text("kinds", bytes: APIAct.positionBytes)?.split(separator: ",").map(String.init)
        var kinds: Set<EventKind> = []
        for word in words ?? EventKind.allCases.map(\.rawValue) {
            guard let kind = EventKind(rawValue: word) else {
                throw APIProblem.invalid("kinds", Self.kindsBound)
            }
            kinds.insert(kind)
        }
        guard !kinds.isEmpty else { throw APIProblem.invalid("kinds", Self.kindsBound) }
        let field = lastEventID == nil ? "after" : "Last-Event-ID"
        let after = try query.text("after", bytes: APIAct.positionBytes)
        let text = lastEventID ?? after ?? ""
        let position = EventPosition(text)
        guard text.isEmpty || position != nil else { throw APIProblem.invalid(field, "the id of an event") }
        return .follow(try APINames.app(match.parameters["app"] ?? ""), kinds: kinds, after: position)
    }

    private static var kindsBound: String {
        "one or more of \(EventKind.allCases.map(\.rawValue).joined(separator: ", ")), with commas between them"
    }

    /// The members of a channel by name, if the request has a position.
    func membersByName(_ query: APIQuery) throws(APIProblem) -> APIAct? {
        guard try query.text("after", bytes: APIAct.positionBytes) != nil else { return nil }
        var list = try page(.members, of: try app(), query)
        list.channel = try APINames.channel(match.parameters["channel"] ?? "")
        return .list(list)
    }

    /// A page of a channel's log.
    func history(_ query: APIQuery) throws(APIProblem) -> HistoryPage {
        HistoryPage(
            onlyMessages: route == .listChannelMessages,
            after: Int64(try query.integer("after", in: APIAct.eventIDs, standard: 0)),
            limit: try query.integer("limit", in: APIAct.pageRecords, standard: 100))
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
        case .listApps, .listBans, .listMembers: ["limit", "after"]
        case .listUsers: ["state", "prefix", "limit", "after"]
        case .listChannels: ["prefix", "limit", "after"]
        case .listCalls: ["state", "limit", "after"]
        case .listChannelMessages, .listChannelEvents: ["limit", "after"]
        case .endCall: ["account"]
        case .getUsage: ["days"]
        case .followEvents: ["kinds", "after"]
        default: []
        }
    }
}
