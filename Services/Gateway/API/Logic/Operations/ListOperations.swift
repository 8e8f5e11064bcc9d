package import BusProtocol
internal import SignalingProtocol

/// Lists that are read page by page.
extension APIOperation {
    static let lists: [APIOperation] = [
        APIOperation(
            "listApps", "GET /v1/apps", .clusterKey(.read), .query(["limit", "after"]), act: APIArguments.listApps),
        APIOperation("getUsage", "GET /v1/apps/{app}/usage", .key(.read), .query(["days"]), act: APIArguments.getUsage),
        APIOperation(
            "listUsers", "GET /v1/apps/{app}/users", .key(.read), .query(["state", "prefix", "limit", "after"]),
            act: APIArguments.listUsers),
        APIOperation(
            "listBans", "GET /v1/apps/{app}/bans", .key(.read), .query(["limit", "after"]), act: APIArguments.listBans),
        APIOperation(
            "listChannels", "GET /v1/apps/{app}/channels", .key(.read), .query(["prefix", "limit", "after"]),
            act: APIArguments.listChannels),
    ]
}

extension APIAct {
    package enum Lists: Equatable, Sendable {
        case page(ListRecords)
        case usage(ListRecords)
    }

    /// Days of usage.
    package static let usageDays = 1...366
}

extension APIArguments {
    fileprivate func listApps() throws(APIProblem) -> APIAct { .lists(.page(try page(.apps, of: nil))) }
    fileprivate func listBans() throws(APIProblem) -> APIAct { .lists(.page(try page(.bans, of: try app()))) }
    fileprivate func listChannels() throws(APIProblem) -> APIAct { .lists(.page(try page(.channels, of: try app()))) }

    fileprivate func getUsage() throws(APIProblem) -> APIAct {
        let app = try app()
        let days = try query.integer("days", in: APIAct.usageDays, standard: 30)
        return .lists(.usage(ListRecords(.usage, app: app, limit: days)))
    }

    fileprivate func listUsers() throws(APIProblem) -> APIAct {
        let app = try app()
        let isAll = try query.word("state", of: ["online", "all"]) == "all"
        return .lists(.page(try page(isAll ? .users : .online, of: app)))
    }
}
