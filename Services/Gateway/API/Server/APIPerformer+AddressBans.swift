internal import BusProtocol
internal import GatewayAPILogic
internal import ServiceKit
internal import SignalingWire

/// Bans of client addresses.
extension APIPerformer {
    func perform(_ act: APIAct.AddressBans, _ write: BegunWrite?) async throws -> Outcome {
        switch act {
        case .list(let list):
            let page = try await shards.next().ask(list)
            let bans = page.bans.map { JSONValue.object(Self.members(of: $0)) }
            return Outcome(JSONMember("bans", .array(bans)), JSONMember("next", page.next?.text))
        case .set(let network, let end, let reason):
            let until = try end.time(now: write?.begun ?? WallClock.seconds)
            let command = BanAddress(network: network, until: until, reason: reason)
            return Outcome(.object(Self.members(of: try await shards.next().ask(command, as: write?.command))))
        case .lift(let network):
            _ = try await shards.next().ask(LiftAddressBan(network: network), as: write?.command)
            return Outcome(JSONMember("network", network.text))
        }
    }

    private static func members(of ban: AddressBan) -> [JSONMember] {
        [
            JSONMember("network", ban.network.text), JSONMember("until", ban.until), JSONMember("reason", ban.reason),
            JSONMember("createdAt", ban.createdAt),
        ]
    }
}
