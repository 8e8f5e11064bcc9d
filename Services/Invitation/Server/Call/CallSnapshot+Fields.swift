package import BusProtocol
internal import ClusterState
package import InvitationLogic
internal import RedisClient
package import SignalingProtocol

/// A call as the fields of its Redis hash.
extension CallSnapshot: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        let phase = try fields.fields(of: \.phase)
        self.init(call: try fields.fields(of: \.call), phase: phase)
    }
}

extension CallSnapshot.Phase: FieldRecord {
    private enum Name: String, CaseIterable, FieldValue {
        case waiting, ringing, accepted, ended
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        switch try fields.field("phase", \.name) {
        case .waiting:
            self = .waiting(
                deadline: try fields.own("deadline", \.deadline),
                calleeWasOnline: try fields.own("online", \.calleeWasOnline))
        case .ringing:
            self = .ringing(deadline: try fields.own("deadline", \.deadline))
        case .accepted:
            self = .accepted
        case .ended:
            self = .ended(
                at: try fields.own("ended", \.endedAt), end: try fields.own("end", \.end),
                owesCalleeEnd: try fields.own("owes", \.owesCalleeEnd))
        }
    }

    private var name: Name {
        switch self {
        case .waiting: .waiting
        case .ringing: .ringing
        case .accepted: .accepted
        case .ended: .ended
        }
    }

    private var deadline: RedisTime? {
        switch self {
        case .waiting(let deadline, _), .ringing(let deadline): deadline
        case .accepted, .ended: nil
        }
    }

    private var calleeWasOnline: Bool? { if case .waiting(_, let wasOnline) = self { wasOnline } else { nil } }

    private var endedAt: RedisTime? { if case .ended(let time, _, _) = self { time } else { nil } }

    private var end: CallEnd? { if case .ended(_, let end, _) = self { end } else { nil } }

    private var owesCalleeEnd: Bool? { if case .ended(_, _, let owes) = self { owes } else { nil } }
}

extension Call: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            id: try fields.field("id", \.id),
            channel: try fields.fields(of: \.channel),
            caller: CallParty(
                account: try fields.field("caller", \.caller.account),
                uid: try fields.field("callerUID", \.caller.uid),
                session: try fields.optional("callerSession", \.caller.session)),
            callee: CallParty(
                account: try fields.field("callee", \.callee.account),
                uid: try fields.field("calleeUID", \.callee.uid),
                session: try fields.optional("calleeSession", \.callee.session)),
            startedAt: try fields.field("started", \.startedAt))
        mail = try fields.optional("mail", \.mail)
        phone = try fields.optionalFields(of: \.phone, with: "phoneRole")
        acknowledgedAt = try fields.optional("acknowledged", \.acknowledgedAt)
        acceptedAt = try fields.optional("accepted", \.acceptedAt)
    }
}

extension PhoneLeg: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            role: try fields.field("phoneRole", \.role),
            bridge: try fields.optional("bridge", \.bridge),
            ring: try fields.optional("phoneRing", \.ring),
            longest: try fields.optional("phoneLongest", \.longest),
            record: try fields.fields(of: \.record))
    }
}

extension CallEnd: FieldValue {}

extension CallRole: FieldValue {}

extension CallID: FieldValue {
    /// Reads an id that one of our processes made.
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        self.init(try reader.string(name))
    }
}
