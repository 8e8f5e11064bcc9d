internal import BusProtocol
internal import SignalingProtocol

/// Removals from channels by the app.
extension ClientSession {
    /// Takes the session out of the channel, once the change of channels that is in progress has ended.
    mutating func removed(
        by removal: ChannelRemoval, _ active: ActiveSession, _ actions: inout SessionActions
    ) {
        channel.removal = removal
        switch channel.change {
        case .none, .subscribing: settleRemoval(active, &actions)
        case .resuming, .joining, .joiningAgain, .leaving: break
        }
    }

    /// Called when no change of channels is in progress any more. The client is told by its own leave, which it gets
    /// for no other reason.
    mutating func settleRemoval(_ active: ActiveSession, _ actions: inout SessionActions) {
        guard let removal = channel.removal else { return }
        channel.removal = nil
        // A session that has joined since stays.
        guard channel.joined?.name == removal.channel, removal.change > channel.joinID else { return }
        channel.place.removed(by: removal)
        let event = ChannelEvent(
            sequence: 0, id: removal.change, account: active.user.account, uid: active.actor.uid, kind: .left)
        actions.append(.channel(.showRemoval(event)))
        leaveLocally(&actions)
    }
}
