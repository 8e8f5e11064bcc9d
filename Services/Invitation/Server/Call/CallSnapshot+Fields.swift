internal import ClusterState
package import InvitationLogic
internal import RedisStore
package import SignalingProtocol
package import SignalingWire

/// A call as the fields of its Redis hash.
extension CallSnapshot: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        let phase = try fields.fields(of: \.phase)
        self.init(call: try fields.fields(of: \.call), phase: phase)
    }
}

extension CallSnapshot.Phase: FieldCodable {
    private enum Name: String, CaseIterable, FieldValue {
        case waiting, ringing, accepted, ended
    }

    private static let field = "phase"

    package func write(to writer: inout FieldWriter) {
        switch self {
        case .waiting(let deadline, let calleeWasOnline):
            Name.waiting.put(as: Self.field, in: &writer)
            WaitingFields(deadline: deadline, calleeWasOnline: calleeWasOnline).write(to: &writer)
        case .ringing(let deadline):
            Name.ringing.put(as: Self.field, in: &writer)
            RingingFields(deadline: deadline).write(to: &writer)
        case .accepted:
            Name.accepted.put(as: Self.field, in: &writer)
        case .ended(let at, let end, let owesCalleeEnd):
            Name.ended.put(as: Self.field, in: &writer)
            EndedFields(at: at, end: end, owesCalleeEnd: owesCalleeEnd).write(to: &writer)
        }
    }

    package init(from reader: FieldReader) throws(SignalingError) {
        switch try Name(Self.field, from: reader) {
        case .waiting:
            let it = try WaitingFields(from: reader)
            self = .waiting(deadline: it.deadline, calleeWasOnline: it.calleeWasOnline)
        case .ringing:
            self = .ringing(deadline: try RingingFields(from: reader).deadline)
        case .accepted:
            self = .accepted
        case .ended:
            let it = try EndedFields(from: reader)
            self = .ended(at: it.at, end: it.end, owesCalleeEnd: it.owesCalleeEnd)
        }
    }
}

private struct WaitingFields: FieldRecord {
    let deadline: RedisTime
    let calleeWasOnline: Bool

    init(deadline: RedisTime, calleeWasOnline: Bool) {
        self.deadline = deadline
        self.calleeWasOnline = calleeWasOnline
    }

    init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            deadline: try fields.field("deadline", \.deadline),
            calleeWasOnline: try fields.field("online", \.calleeWasOnline))
    }
}

private struct RingingFields: FieldRecord {
    let deadline: RedisTime

    init(deadline: RedisTime) { self.deadline = deadline }

    init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(deadline: try fields.field("deadline", \.deadline))
    }
}

private struct EndedFields: FieldRecord {
    let at: RedisTime
    let end: CallEnd
    let owesCalleeEnd: Bool

    init(at: RedisTime, end: CallEnd, owesCalleeEnd: Bool) {
        self.at = at
        self.end = end
        self.owesCalleeEnd = owesCalleeEnd
    }

    init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            at: try fields.field("ended", \.at), end: try fields.field("end", \.end),
            owesCalleeEnd: try fields.field("owes", \.owesCalleeEnd))
    }
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
