package import SignalingProtocol

extension PhoneCall: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("call", id)
        writer.put(channel)
        writer.put("user", user.rawValue)
        writer.put("phone", phone.rawValue)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(
            id: try reader.string("call"), channel: try reader.channelKey(),
            user: try Account(try reader.string("user")),
            phone: try Account(try reader.string("phone")))
    }
}

extension PhoneRecord: FieldCodable {
    /// Adds the fields that are known.
    package func write(to writer: inout FieldWriter) {
        writer.put(optional: "sip_call_id", sipCallID)
        writer.put(optional: "sip_status", status.map { String($0) })
        writer.put(optional: "sip_reason", reason)
    }

    /// Reads the fields that are there.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(sipCallID: reader.optionalString("sip_call_id"), reason: reader.optionalString("sip_reason"))
        if reader.optionalString("sip_status") != nil { status = try reader.int("sip_status") }
    }
}

extension PhoneAct: FieldCodable {
    /// Adds the fields.
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

    /// Reads the fields.
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

extension DialPhone: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        call.write(to: &writer)
        writer.put("extra", extra)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(call: try PhoneCall(from: reader), extra: try reader.string("extra"))
    }
}

extension OrderPhone: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        call.write(to: &writer)
        writer.put("act", act.rawValue)
        writer.put("extra", extra)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        guard let act = PhoneOrderAct(rawValue: try reader.string("act")) else {
            throw FieldReader.malformed("act", "order to a telephone")
        }
        self.init(call: try PhoneCall(from: reader), act: act, extra: try reader.string("extra"))
    }
}

extension PhoneReport: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        call.write(to: &writer)
        writer.put("bridge", bridge.rawValue)
        act.write(to: &writer)
        writer.put("extra", extra)
        record.write(to: &writer)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(
            call: try PhoneCall(from: reader), bridge: GatewayID(try reader.string("bridge")),
            act: try PhoneAct(from: reader), extra: try reader.string("extra"), record: try PhoneRecord(from: reader))
    }
}

extension InviteFromPhone: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        call.write(to: &writer)
        writer.put("bridge", bridge.rawValue)
        writer.put("extra", extra)
        writer.put(optional: "ring", ring.map { String($0) })
        record.write(to: &writer)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(
            call: try PhoneCall(from: reader), bridge: GatewayID(try reader.string("bridge")),
            extra: try reader.string("extra"),
            ring: reader.optionalString("ring") == nil ? nil : try reader.int64("ring"),
            record: try PhoneRecord(from: reader))
    }
}

extension PhoneStanding: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) { writer.put("stands", stands) }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) { self.init(stands: try reader.bool("stands")) }
}
