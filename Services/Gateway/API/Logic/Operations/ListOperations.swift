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
        APIOperation(
            "listAudit", "GET /v1/audit", .clusterKey(.read), .query(["app", "limit", "after"]),
            act: APIArguments.listAudit),
        APIOperation(
            "listWebhooks", "GET /v1/webhooks", .clusterKey(.read), .query(["limit", "after"]),
            act: APIArguments.listWebhooks),
        APIOperation(
            "listAppWebhooks", "GET /v1/apps/{app}/webhooks", .key(.read), act: APIArguments.listAppWebhooks),
        APIOperation("getWebhook", "GET /v1/apps/{app}/webhook", .key(.read), act: APIArguments.getWebhook),
        APIOperation(
            "listTrunks", "GET /v1/trunks", .clusterKey(.read), .query(["limit", "after"]),
            act: APIArguments.listTrunks),
        APIOperation("getTrunk", "GET /v1/apps/{app}/trunk", .key(.read), act: APIArguments.getTrunk),
        APIOperation(
            "listHooks", "GET /v1/hooks", .clusterKey(.read), .query(["limit", "after"]),
            act: APIArguments.listHooks),
        APIOperation("getHook", "GET /v1/apps/{app}/hook", .key(.read), act: APIArguments.getHook),
    ]
}

extension APIAct {
    package enum Lists: Equatable, Sendable {
        case page(ListRecords)
        /// The only record of a list of one app.
        case record(ListRecords)
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
        return .lists(.record(ListRecords(.usage, app: app, limit: days)))
    }

    fileprivate func listWebhooks() throws(APIProblem) -> APIAct { .lists(.page(try page(.webhooks, of: nil))) }
    fileprivate func listTrunks() throws(APIProblem) -> APIAct { .lists(.page(try page(.trunks, of: nil))) }
    fileprivate func listHooks() throws(APIProblem) -> APIAct { .lists(.page(try page(.hooks, of: nil))) }
    fileprivate func getWebhook() throws(APIProblem) -> APIAct { try setting(.webhook) }

    /// All of them: an app has few.
    fileprivate func listAppWebhooks() throws(APIProblem) -> APIAct {
        .lists(.page(ListRecords(.webhooks, app: try app(), limit: WebhookKey.mostOfApp)))
    }

    fileprivate func getTrunk() throws(APIProblem) -> APIAct { try setting(.trunks) }
    fileprivate func getHook() throws(APIProblem) -> APIAct { try setting(.hooks) }

    private func setting(_ list: ListRecords.List) throws(APIProblem) -> APIAct {
        .lists(.record(ListRecords(list, app: try app(), limit: 1)))
    }

    /// An app that has been removed has entries still, so that it need not exist.
    fileprivate func listAudit() throws(APIProblem) -> APIAct {
        let list = try page(.audit, of: try queriedApp())
        guard list.after.isEmpty || Self.id(ofPosition: list.after).flatMap({ Int64($0) }) != nil else {
            throw APIProblem.invalid("after", "the `next` of a page")
        }
        return .lists(.page(list))
    }

    fileprivate func listUsers() throws(APIProblem) -> APIAct {
        let app = try app()
        let isAll = try query.word("state", of: ["online", "all"]) == "all"
        return .lists(.page(try page(isAll ? .users : .online, of: app)))
    }
}
