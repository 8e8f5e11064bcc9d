package import SignalingProtocol

extension PhoneCall: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            id: try fields.field("call", \.id),
            channel: try fields.fields(of: \.channel),
            user: try fields.field("user", \.user),
            phone: try fields.field("phone", \.phone))
    }
}

extension PhoneRecord: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            sipCallID: try fields.optional("sip_call_id", \.sipCallID),
            status: try fields.optional("sip_status", \.status),
            reason: try fields.optional("sip_reason", \.reason))
    }
}

extension PhoneAct: FieldRecord {
    private enum Kind: String, CaseIterable, FieldValue {
        case claimed, ringing, accepted, refused, message, failed, ended
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        switch try fields.field("act", \.kind) {
        case .claimed: self = .claimed
        case .ringing: self = .ringing
        case .accepted: self = .accepted
        case .refused: self = .refused
        case .message: self = .message
        case .failed: self = .failed(try fields.own("code", \.code))
        case .ended: self = .ended(try fields.own("code", \.code))
        }
    }

    private var kind: Kind {
        switch self {
        case .claimed: .claimed
        case .ringing: .ringing
        case .accepted: .accepted
        case .refused: .refused
        case .message: .message
        case .failed: .failed
        case .ended: .ended
        }
    }

    private var code: SignalingCode? {
        switch self {
        case .failed(let code), .ended(let code): code
        case .claimed, .ringing, .accepted, .refused, .message: nil
        }
    }
}

extension DialPhone: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(call: try fields.fields(of: \.call), extra: try fields.field("extra", \.extra))
    }
}

extension OrderPhone: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            call: try fields.fields(of: \.call),
            act: try fields.field("act", \.act),
            extra: try fields.field("extra", \.extra))
    }
}

extension PhoneReport: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            call: try fields.fields(of: \.call),
            bridge: try fields.field("bridge", \.bridge),
            act: try fields.fields(of: \.act),
            extra: try fields.field("extra", \.extra),
            record: try fields.fields(of: \.record))
    }
}

extension InviteFromPhone: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            call: try fields.fields(of: \.call),
            bridge: try fields.field("bridge", \.bridge),
            extra: try fields.field("extra", \.extra),
            ring: try fields.optional("ring", \.ring),
            record: try fields.fields(of: \.record))
    }
}

extension PhoneCallStatus: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(continues: try fields.field("stands", \.continues))
    }
}
