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

extension PhoneAct: FieldCodable {
    package func write(to writer: inout FieldWriter) {
        switch self {
        case .claimed: writer.put("act", "claimed")
        case .ringing: writer.put("act", "ringing")
        case .accepted: writer.put("act", "accepted")
        case .refused: writer.put("act", "refused")
        case .message: writer.put("act", "message")
        case .failed(let code):
            writer.put("act", "failed")
            writer.put("code", code)
        case .ended(let code):
            writer.put("act", "ended")
            writer.put("code", code)
        }
    }

    package init(from reader: FieldReader) throws(SignalingError) {
        switch try reader.string("act") {
        case "claimed": self = .claimed
        case "ringing": self = .ringing
        case "accepted": self = .accepted
        case "refused": self = .refused
        case "message": self = .message
        case "failed": self = .failed(try reader.code("code"))
        case "ended": self = .ended(try reader.code("code"))
        default: throw FieldReader.malformed("act", "act of a telephone")
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
