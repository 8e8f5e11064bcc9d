internal import BusProtocol
package import SignalingProtocol

/// Channels: their members and logs.
extension APIOperation {
    private static let historyParameters = ["limit", "after", "order", "from", "until"]

    static let channels: [APIOperation] = [
        APIOperation(
            "listChannelMessages", "GET /v1/apps/{app}/channels/{channel}/messages", .key(.read),
            .query(historyParameters), act: APIArguments.listChannelMessages),
        APIOperation(
            "listChannelEvents", "GET /v1/apps/{app}/channels/{channel}/events", .key(.read),
            .query(historyParameters), act: APIArguments.listChannelEvents),
        APIOperation("getChannel", "GET /v1/apps/{app}/channels/{channel}", .key(.read), act: APIArguments.getChannel),
        APIOperation(
            "listMembers", "GET /v1/apps/{app}/channels/{channel}/members", .key(.read), .query(["limit", "after"]),
            act: APIArguments.listMembers),
        APIOperation(
            "getMember", "GET /v1/apps/{app}/channels/{channel}/members/{account}", .key(.read),
            act: APIArguments.getMember),
    ]
}

extension APIAct {
    package enum Channels: Equatable, Sendable {
        /// The log of a channel.
        case readHistory(ChannelKey, HistoryPage)
        case get(ChannelKey)
        case listMembers(ChannelKey, limit: Int)
        case getMember(ChannelKey, Account)
    }

    /// The latest members that are listed at once, at most.
    package static let membersBound = 10_000
    /// The range of an event's id in a channel: Redis compares them as doubles, which are exact up to 2^53.
    package static let eventIDs = 0...9_007_199_254_740_991
    /// The range of a time of an event, in Unix seconds: its id is in microseconds.
    package static let eventTimes = 0...9_007_199_254
}

extension APIArguments {
    fileprivate func listChannelMessages() throws(APIProblem) -> APIAct { try history(onlyMessages: true) }
    fileprivate func listChannelEvents() throws(APIProblem) -> APIAct { try history(onlyMessages: false) }
    fileprivate func getChannel() throws(APIProblem) -> APIAct { .channels(.get(try channel())) }
    fileprivate func getMember() throws(APIProblem) -> APIAct { .channels(.getMember(try channel(), try account())) }

    /// A page of a channel's log.
    private func history(onlyMessages: Bool) throws(APIProblem) -> APIAct {
        let channel = try channel()
        func number(_ name: String, in range: ClosedRange<Int>) throws(APIProblem) -> Int64? {
            let given = try query.integer(name, in: range, standard: -1)
            return given < 0 ? nil : Int64(given)
        }
        let range = HistoryRange(
            isDescending: try query.word("order", of: ["ascending", "descending"]) == "descending",
            after: try number("after", in: APIAct.eventIDs).flatMap { $0 == 0 ? nil : $0 },
            from: try number("from", in: APIAct.eventTimes),
            until: try number("until", in: APIAct.eventTimes))
        let page = HistoryPage(
            onlyMessages: onlyMessages, in: range,
            limit: try query.integer("limit", in: APIAct.pageRecords, standard: 100))
        return .channels(.readHistory(channel, page))
    }

    /// The members by name, if the request has a position, or else the latest ones.
    fileprivate func listMembers() throws(APIProblem) -> APIAct {
        guard try query.text("after", bytes: APIAct.positionBytes) != nil else {
            let limit = 0...APIAct.membersBound
            return .channels(
                .listMembers(try channel(), limit: try query.integer("limit", in: limit, standard: 100)))
        }
        var list = try page(.members, of: try app())
        list.channel = try APINames.channel(text("channel"))
        return .lists(.page(list))
    }
}
