package import SignalingProtocol

/// Lists that are read page by page.
extension APIOperation {
    static let lists: [APIOperation] = [
        APIOperation("listApps", "GET /v1/apps", .clusterKey(.read), .query(["limit", "after"])) {
            arguments throws(APIProblem) in
            .lists(.page(try arguments.page(.apps, of: nil)))
        },
        APIOperation("getUsage", "GET /v1/apps/{app}/usage", .key(.read), .query(["days"])) {
            arguments throws(APIProblem) in
            .lists(.usage(try arguments.usage()))
        },
        APIOperation(
            "listUsers", "GET /v1/apps/{app}/users", .key(.read), .query(["state", "prefix", "limit", "after"])
        ) { arguments throws(APIProblem) in
            .lists(.page(try arguments.users()))
        },
        APIOperation("listBans", "GET /v1/apps/{app}/bans", .key(.read), .query(["limit", "after"])) {
            arguments throws(APIProblem) in
            .lists(.page(try arguments.page(.bans, of: try arguments.app())))
        },
        APIOperation(
            "listChannels", "GET /v1/apps/{app}/channels", .key(.read), .query(["prefix", "limit", "after"])
        ) { arguments throws(APIProblem) in
            .lists(.page(try arguments.page(.channels, of: try arguments.app())))
        },
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
    fileprivate func usage() throws(APIProblem) -> ListRecords {
        ListRecords(
            .usage, app: try app(), limit: try query.integer("days", in: APIAct.usageDays, standard: 30))
    }

    fileprivate func users() throws(APIProblem) -> ListRecords {
        let app = try app()
        let isAll = try query.word("state", of: ["online", "all"]) == "all"
        return try page(isAll ? .users : .online, of: app)
    }
}
