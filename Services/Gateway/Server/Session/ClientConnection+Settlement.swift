internal import CoreMetrics
internal import GatewayLogic
internal import Logging
internal import NIOCore
internal import RedisStore
internal import SignalingProtocol

/// A join whose answer did not come: it is to be undone if it took effect, and where the session is then is to be asked.
final class JoinSettlement {
    /// The channel that was to be joined.
    let channel: ChannelName
    /// The one before: its events go on meanwhile, because the session may be in it still.
    let previous: ChannelKey?
    /// Whether an answer is awaited.
    var isAsking = false
    /// The session's next join, which waits for that answer: an undoing that came late would undo it.
    var next: (() -> Void)?

    init(channel: ChannelName, previous: ChannelKey?) {
        self.channel = channel
        self.previous = previous
    }
}

/// What becomes of a join whose outcome is unknown.
extension ClientConnection {
    /// What the services have for an answer, each time they are asked.
    private static let settlementTimeout = TimeAmount.seconds(2)
    private static let settlementPause = TimeAmount.seconds(1)

    /// A join has failed. Where it may have taken effect all the same, it is undone until that is confirmed: neither the
    /// client nor other members shall believe half of it.
    func settle(
        _ error: SignalingError, channel: ChannelName, previous: ChannelKey?, actor: Actor,
        on shard: isolated GatewayShard
    ) {
        guard error.reason == "timeout" || error.reason == "unavailable", machine.isActive else { return }
        GatewayMetrics.unsettledJoins.increment()
        let settlement = JoinSettlement(channel: channel, previous: previous)
        self.settlement = settlement
        ask(settlement, actor, on: shard)
    }

    /// Whether a join must wait, and is called when it need not; otherwise it makes up for what was to be settled, because a
    /// join leaves what the session was in.
    func waitsForSettlement(_ join: @escaping () -> Void) -> Bool {
        guard let settlement, settlement.isAsking else {
            settlement = nil
            return false
        }
        settlement.next = join
        return true
    }

    private func ask(_ settlement: JoinSettlement, _ actor: Actor, on shard: isolated GatewayShard) {
        settlement.isAsking = true
        let command = LeaveChannel(actor: actor, channel: settlement.channel, reason: .leaveByUser)
        shard.sender.send(command, within: Self.settlementTimeout) { [self] result in
            guard case .success = result, let previous = settlement.previous, machine.isActive else {
                return asked(settlement, actor, isSettled: (try? result.get()) != nil, on: shard)
            }
            askWhether(settlement, actor, isIn: previous, on: shard)
        }
    }

    /// The join is undone: asks whether the session is still in the channel before, whose events it was shown meanwhile.
    private func askWhether(
        _ settlement: JoinSettlement, _ actor: Actor, isIn previous: ChannelKey, on shard: isolated GatewayShard
    ) {
        let query = QueryMember(channel: previous, account: actor.user.account)
        shard.sender.send(query, within: Self.settlementTimeout) { [self] result in
            if case .success(let status) = result, !status.isMember, channel?.key == previous {
                leaveLocalChannel(on: shard)
            }
            asked(settlement, actor, isSettled: (try? result.get()) != nil, on: shard)
        }
    }

    private func asked(_ settlement: JoinSettlement, _ actor: Actor, isSettled: Bool, on shard: isolated GatewayShard) {
        settlement.isAsking = false
        guard self.settlement === settlement, machine.isActive else { return }
        if let next = settlement.next {
            self.settlement = nil
            next()
        } else if isSettled {
            self.settlement = nil
        } else {
            shard.eventLoop.assumeIsolated().scheduleTask(in: Self.settlementPause) { [self] in
                guard self.settlement === settlement, !settlement.isAsking, machine.isActive else { return }
                ask(settlement, actor, on: shard)
            }
        }
    }
}
