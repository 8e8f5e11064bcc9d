internal import InvitationLogic
internal import SignalingProtocol
internal import SignalingWire

/// Actions are stored with the command that caused them, so that a redelivered command repeats them.
extension CallAction {
    static func encode(_ actions: [CallAction]) -> [UInt8] {
        var list = FieldWriter()
        for action in actions {
            var fields = FieldWriter()
            let kind = action.write(to: &fields)
            list.put(kind, fields.encoded)
        }
        return list.encoded
    }

    static func decode(_ bytes: [UInt8]) throws(SignalingError) -> [CallAction] {
        var actions: [CallAction] = []
        for (kind, fields) in try FieldReader(encoded: bytes).pairs {
            actions.append(try CallAction(kind, FieldReader(encoded: fields)))
        }
        return actions
    }

    private func write(to writer: inout FieldWriter) -> String {
        switch self {
        case .deliverInvitation(let delivery):
            delivery.write(to: &writer)
            return "invite"
        case .deliver(let delivery):
            delivery.write(to: &writer)
            return "deliver"
        case .withdrawInvitation(let callee, let version):
            writer.put("callee", callee.rawValue)
            writer.put("version", version)
            return "withdraw"
        case .schedule(let timer, let time):
            timer.write(to: &writer)
            writer.put("at", time)
            return "schedule"
        case .cancel(let timer, let time):
            timer.write(to: &writer)
            writer.put("at", time)
            return "cancel"
        case .remember(let call, let account):
            writer.put("call", call.rawValue)
            writer.put("account", account.rawValue)
            return "remember"
        case .forget(let call, let account):
            writer.put("call", call.rawValue)
            writer.put("account", account.rawValue)
            return "forget"
        case .dial(let call, let extra, let until):
            DialPhone(call: call, extra: extra).write(to: &writer)
            writer.put("until", until)
            return "dial"
        case .order(let order):
            OrderPhone(call: order.call, act: order.act, extra: order.extra).write(to: &writer)
            writer.put("bridge", order.bridge.rawValue)
            return "order"
        case .hold(let call, let bridge):
            writer.put("call", call.rawValue)
            writer.put("bridge", bridge.rawValue)
            return "hold"
        case .release(let call, let bridge):
            writer.put("call", call.rawValue)
            writer.put("bridge", bridge.rawValue)
            return "release"
        case .keepLine(let call, let account, let until):
            writer.put("call", call.rawValue)
            writer.put("account", account.rawValue)
            writer.put("until", until)
            return "keep"
        case .freeLine(let call, let account):
            writer.put("call", call.rawValue)
            writer.put("account", account.rawValue)
            return "free"
        case .log(let entry):
            entry.write(to: &writer)
            return "log"
        }
    }

    private init(_ kind: String, _ reader: FieldReader) throws(SignalingError) {
        switch kind {
        case "invite": self = .deliverInvitation(try CallDelivery(from: reader))
        case "deliver": self = .deliver(try CallDelivery(from: reader))
        case "withdraw":
            self = .withdrawInvitation(
                callee: try Account(try reader.string("callee")), version: try reader.int64("version"))
        case "schedule": self = .schedule(try CallTimer(from: reader), at: try reader.int64("at"))
        case "cancel": self = .cancel(try CallTimer(from: reader), at: try reader.int64("at"))
        case "remember":
            self = .remember(CallID(try reader.string("call")), try Account(try reader.string("account")))
        case "forget":
            self = .forget(CallID(try reader.string("call")), try Account(try reader.string("account")))
        case "dial":
            let command = try DialPhone(from: reader)
            self = .dial(command.call, extra: command.extra, until: try reader.int64("until"))
        case "order":
            let command = try OrderPhone(from: reader)
            self = .order(
                PhoneOrder(
                    bridge: BridgeID(try reader.string("bridge")), call: command.call, act: command.act,
                    extra: command.extra))
        case "hold":
            self = .hold(CallID(try reader.string("call")), BridgeID(try reader.string("bridge")))
        case "release":
            self = .release(CallID(try reader.string("call")), BridgeID(try reader.string("bridge")))
        case "keep":
            self = .keepLine(
                CallID(try reader.string("call")), try Account(try reader.string("account")),
                until: try reader.int64("until"))
        case "free":
            self = .freeLine(CallID(try reader.string("call")), try Account(try reader.string("account")))
        case "log": self = .log(try CallLogEntry(from: reader))
        default: throw Call.unreadable("action")
        }
    }
}

extension CallTimer {
    fileprivate func write(to writer: inout FieldWriter) {
        writer.put("timer", kind.rawValue)
        writer.put("call", call.rawValue)
    }

    fileprivate init(from reader: FieldReader) throws(SignalingError) {
        guard let kind = Kind(rawValue: try reader.string("timer")) else { throw Call.unreadable("timer") }
        self.init(kind, of: CallID(try reader.string("call")))
    }
}

extension CallLogEntry {
    func write(to writer: inout FieldWriter) {
        call.write(to: &writer)
        if let endedAt { writer.put("ended", endedAt) }
        if let end { writer.put("end", end.rawValue) }
    }

    init(from reader: FieldReader) throws(SignalingError) {
        self.init(
            call: try Call(from: reader), endedAt: reader.optionalString("ended").flatMap { Int64($0) },
            end: reader.optionalString("end").flatMap { CallEnd(rawValue: $0) })
    }
}

extension CallDelivery {
    fileprivate func write(to writer: inout FieldWriter) {
        writer.put("call", call.rawValue)
        writer.put("type", type.rawValue)
        writer.put("receiver", receiver.rawValue)
        writer.put("peer", peer.rawValue)
        writer.put("uid", peerUID)
        writer.put("extra", extra)
        writer.put("ttl", timeToLive)
        writer.put("withdraws", withdrawsWhenMissed)
        switch audience {
        case .anyone: break
        case .session(let session): writer.put("session", session.rawValue)
        case .invited(let version): writer.put("invited", version)
        }
    }

    fileprivate init(from reader: FieldReader) throws(SignalingError) {
        guard let type = CallEventType(rawValue: try reader.string("type")) else { throw Call.unreadable("type") }
        let audience: CallAudience
        if let session = reader.optionalString("session") {
            audience = .session(SessionID(session))
        } else if reader.optionalString("invited") != nil {
            audience = .invited(try reader.int64("invited"))
        } else {
            audience = .anyone
        }
        self.init(
            call: CallID(try reader.string("call")), type: type, receiver: try Account(try reader.string("receiver")),
            peer: try Account(try reader.string("peer")), peerUID: try reader.uint32("uid"),
            extra: try reader.string("extra"), audience: audience, timeToLive: try reader.int64("ttl"),
            withdrawsWhenMissed: try reader.bool("withdraws"))
    }
}
