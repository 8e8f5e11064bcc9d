internal import BusProtocol
internal import ClusterState
package import SignalingProtocol

/// Calls in which an app's server acts in the name of a party. It has no session, so nobody is informed in its stead,
/// and a client of the party may have the call too.
extension CallStateMachine {
    /// Checks that the machine's call is a given one.
    /// - Throws: ``SignalingCode/failed`` (`unknown_call`) when it is another.
    package func require(_ call: CallID) throws(SignalingError) {
        guard snapshot?.call.id == call else { throw Call.unknown }
    }

    /// Handles the end by the server. Both parties are informed as of an end by the other one. From
    /// waiting, ringing or accepted to ended.
    mutating func endByServer(
        as actor: Actor, _ extra: String, _ now: RedisTime
    ) throws(SignalingError) -> [CallAction] {
        switch state {
        case .none:
            throw Call.unknown
        case .waiting(let it):
            let told = it.call.tellInvited(.ended, extra, for: it.patience(now, durations), withdraws: true)
            return try end(it.call, as: actor, extra, now, told + [it.cancellation])
        case .ringing(let it):
            return try end(it.call, as: actor, extra, now, it.call.tellCallee(.ended, extra) + [it.cancellation])
        case .accepted(let call):
            return try end(call, as: actor, extra, now, call.tellCallee(.ended, extra))
        case .ended(let it):
            _ = try it.call.role(of: actor)
            return []  // A party has ended it, or it had timed out.
        }
    }

    private mutating func end(
        _ call: Call, as actor: Actor, _ extra: String, _ now: RedisTime, _ steps: [CallAction]
    ) throws(SignalingError) -> [CallAction] {
        let end: CallEnd =
            switch try call.role(of: actor) {
            case .caller: .endedByCaller
            case .callee: .endedByCallee
            }
        return finish(call, end, now, call.tellCaller(.ended, extra) + steps)
    }
}

extension CallSnapshot {
    /// The other party of a call of `account` that has not ended; nil when it has no such call.
    package func peer(of account: Account, in id: CallID) -> Account? {
        guard isLive(id) else { return nil }
        return switch call.role(of: account) {
        case .caller: call.callee.account
        case .callee: call.caller.account
        case nil: nil
        }
    }
}
