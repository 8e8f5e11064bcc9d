package import BusProtocol
package import SignalingProtocol

/// Channels' moderation: users who are removed and kept out, and users who are muted.
extension APIOperation {
    static let moderation: [APIOperation] = [
        APIOperation(
            "listChannelBans", "GET /v1/apps/{app}/channels/{channel}/bans", .key(.read), .query(["limit", "after"]),
            act: APIArguments.listChannelBans),
        APIOperation(
            "setChannelBan", "PUT /v1/apps/{app}/channels/{channel}/bans/{account}", .key(.admin), .body(),
            act: APIArguments.setChannelBan),
        APIOperation(
            "deleteChannelBan", "DELETE /v1/apps/{app}/channels/{channel}/bans/{account}", .key(.admin),
            act: APIArguments.deleteChannelBan),
        APIOperation(
            "listChannelMutes", "GET /v1/apps/{app}/channels/{channel}/mutes", .key(.read),
            .query(["limit", "after"]), act: APIArguments.listChannelMutes),
        APIOperation(
            "setChannelMute", "PUT /v1/apps/{app}/channels/{channel}/mutes/{account}", .key(.admin), .body(),
            act: APIArguments.setChannelMute),
        APIOperation(
            "deleteChannelMute", "DELETE /v1/apps/{app}/channels/{channel}/mutes/{account}", .key(.admin),
            act: APIArguments.deleteChannelMute),
    ]
}

extension APIAct {
    package enum Moderation: Equatable, Sendable {
        /// A restriction for so many seconds; 0 of a ban: the member is only removed.
        case restrict(ChannelMember, RestrictionKind, seconds: Int, reason: String)
        case lift(LiftRestriction)
        case list(ListRestrictions)
    }

    /// A user in a channel, or one who may come there.
    package struct ChannelMember: Equatable, Sendable {
        package var channel: ChannelKey
        package var account: Account

        package init(channel: ChannelKey, account: Account) {
            self.channel = channel
            self.account = account
        }
    }
}

extension APIArguments {
    fileprivate func listChannelBans() throws(APIProblem) -> APIAct { try listRestrictions(.ban) }
    fileprivate func listChannelMutes() throws(APIProblem) -> APIAct { try listRestrictions(.mute) }
    fileprivate func deleteChannelBan() throws(APIProblem) -> APIAct { try lift(.ban) }
    fileprivate func deleteChannelMute() throws(APIProblem) -> APIAct { try lift(.mute) }
    fileprivate func setChannelBan() throws(APIProblem) -> APIAct { try restrict(.ban, atLeast: 0) }
    fileprivate func setChannelMute() throws(APIProblem) -> APIAct { try restrict(.mute, atLeast: 1) }

    private func restrict(_ kind: RestrictionKind, atLeast least: Int) throws(APIProblem) -> APIAct {
        let fields = try fields("seconds", "reason")
        let seconds = try fields.integer("seconds", in: least...ChannelRestriction.seconds.upperBound)
        let reason = fields.has("reason") ? try fields.text("reason", bytes: ChannelRestriction.reasonBytes) : ""
        guard !reason.utf8.contains(0) else { throw APIProblem.invalid("reason", "without the NUL character") }
        let member = APIAct.ChannelMember(channel: try ordinaryChannel(), account: try account())
        return .moderation(.restrict(member, kind, seconds: seconds, reason: reason))
    }

    private func lift(_ kind: RestrictionKind) throws(APIProblem) -> APIAct {
        .moderation(.lift(LiftRestriction(channel: try ordinaryChannel(), account: try account(), kind: kind)))
    }

    private func listRestrictions(_ kind: RestrictionKind) throws(APIProblem) -> APIAct {
        .moderation(
            .list(
                ListRestrictions(
                    channel: try ordinaryChannel(), kind: kind,
                    after: try query.text("after", bytes: APIAct.positionBytes) ?? "",
                    limit: try query.integer("limit", in: APIAct.pageRecords, standard: 100))))
    }
}
