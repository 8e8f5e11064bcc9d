internal import BusProtocol
internal import GatewayAPILogic
internal import ServiceKit
internal import SignalingProtocol
internal import SignalingWire

/// Channels' moderation.
extension APIPerformer {
    func perform(_ act: APIAct.Moderation, _ write: BegunWrite?) async throws -> Outcome {
        switch act {
        case .restrict(let member, let kind, let seconds, let reason):
            try await restrict(member, kind, seconds: seconds, reason: reason, write)
        case .lift(let lift):
            try await self.lift(lift, write)
        case .list(let list): try await self.list(list)
        }
    }

    private func restrict(
        _ member: APIAct.ChannelMember, _ kind: RestrictionKind, seconds: Int, reason: String, _ write: BegunWrite?
    ) async throws -> Outcome {
        let until = seconds == 0 ? 0 : (write?.begun ?? WallClock.seconds) + Int64(seconds)
        let command = RestrictMember(
            channel: member.channel, account: member.account, kind: kind, until: until, reason: reason)
        let done = try await shards.next().ask(command, as: write?.command)
        var members = Self.members(
            of: ChannelRestriction(
                account: member.account, until: until, reason: reason, createdAt: done.createdAt))
        if kind == .ban { members.append(JSONMember("removed", done.isRemoved)) }
        return Outcome(.object(members))
    }

    private func lift(_ lift: LiftRestriction, _ write: BegunWrite?) async throws -> Outcome {
        _ = try await shards.next().ask(lift, as: write?.command)
        return Outcome(Self.account(lift.account))
    }

    private func list(_ list: ListRestrictions) async throws -> Outcome {
        let page = try await shards.next().ask(list)
        let found = page.restrictions.map { JSONValue.object(Self.members(of: $0)) }
        return Outcome(
            JSONMember(list.kind == .ban ? "bans" : "mutes", .array(found)), JSONMember("next", page.next))
    }

    private static func members(of restriction: ChannelRestriction) -> [JSONMember] {
        [
            account(restriction.account), JSONMember("until", restriction.until),
            JSONMember("reason", restriction.reason), JSONMember("createdAt", restriction.createdAt),
        ]
    }
}
