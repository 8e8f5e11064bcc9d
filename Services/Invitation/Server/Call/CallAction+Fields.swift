internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import InvitationLogic
internal import SignalingProtocol

/// Actions are stored with the command that caused them, so that a redelivered command repeats them.
extension CallAction {
    /// The names of the actions.
    private enum Name: String {
        case invite, deliver, withdraw, schedule, cancel, remember, forget, dial, order, hold, release, keep, free, log
    }

    static func encode(_ actions: [CallAction]) -> [UInt8] {
        var list = FieldWriter()
        for action in actions {
            let (name, payload) = action.record
            var fields = FieldWriter()
            payload.write(to: &fields)
            list.put(name.rawValue, fields.encoded)
        }
        return list.encoded
    }

    static func decode(_ bytes: [UInt8]) throws(SignalingError) -> [CallAction] {
        var actions: [CallAction] = []
        for (name, fields) in try FieldReader(encoded: bytes).pairs {
            guard let name = Name(rawValue: name) else {
                throw SignalingError(.failed, .unreadableCall, "the call's record has an unknown action")
            }
            actions.append(try CallAction(name, FieldReader(encoded: fields)))
        }
        return actions
    }

    private var record: (name: Name, payload: any FieldCodable) {
        switch self {
        case .deliverInvitation(let delivery): (.invite, delivery)
        case .deliver(let delivery): (.deliver, delivery)
        case .withdrawInvitation(let callee, let version): (.withdraw, Withdrawal(callee: callee, version: version))
        case .schedule(let timer, let time): (.schedule, TimerFields(timer: timer, time: time))
        case .cancel(let timer, let time): (.cancel, TimerFields(timer: timer, time: time))
        case .remember(let call, let account): (.remember, UserCall(call: call, account: account))
        case .forget(let call, let account): (.forget, UserCall(call: call, account: account))
        case .dial(let call, let extra, let until): (.dial, Dialling(DialPhone(call: call, extra: extra), until: until))
        case .order(let order): (.order, order)
        case .hold(let call, let bridge): (.hold, BridgeCall(call: call, bridge: bridge))
        case .release(let call, let bridge): (.release, BridgeCall(call: call, bridge: bridge))
        case .keepLine(let call, let account, let until):
            (.keep, HeldLine(UserCall(call: call, account: account), until: until))
        case .freeLine(let call, let account): (.free, UserCall(call: call, account: account))
        case .log(let entry): (.log, entry)
        }
    }

    private init(_ name: Name, _ reader: FieldReader) throws(SignalingError) {
        switch name {
        case .invite: self = .deliverInvitation(try CallDelivery(from: reader))
        case .deliver: self = .deliver(try CallDelivery(from: reader))
        case .withdraw: self = try Withdrawal(from: reader).action
        case .schedule: self = try TimerFields(from: reader).with(CallAction.schedule)
        case .cancel: self = try TimerFields(from: reader).with(CallAction.cancel)
        case .remember: self = try UserCall(from: reader).with(CallAction.remember)
        case .forget: self = try UserCall(from: reader).with(CallAction.forget)
        case .dial: self = try Dialling(from: reader).action
        case .order: self = .order(try PhoneOrder(from: reader))
        case .hold: self = try BridgeCall(from: reader).with(CallAction.hold)
        case .release: self = try BridgeCall(from: reader).with(CallAction.release)
        case .keep: self = try HeldLine(from: reader).action
        case .free: self = try UserCall(from: reader).with(CallAction.freeLine)
        case .log: self = .log(try CallLogEntry(from: reader))
        }
    }
}
