package import SignalingProtocol

extension ReassertSessions: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("gateway", gateway.rawValue)
        writer.put("sessions", list: sessions)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(gateway: try reader.gateway(), sessions: try reader.list("sessions", of: HeldSession.self))
    }
}

extension HeldSession: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("line", line.wire)
        writer.put("uid", uid)
        writer.put("device", device)
        writer.put("push", push)
        writer.put("expires", tokenExpiry)
        hold.write(to: &writer)
        place.write(to: &writer)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(
            line: try Line(wire: try reader.string("line")), uid: try reader.uint32("uid"),
            device: try reader.string("device"), push: try reader.bool("push"),
            tokenExpiry: try reader.int64("expires"), hold: try SessionHold(from: reader),
            place: try HeldPlace(from: reader))
    }
}

extension HeldPlace: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("turn", turn)
        writer.put(optional: "channel", channel?.rawValue)
        writer.put("settled", isSettled)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(
            turn: try reader.int64("turn"), channel: try reader.optionalChannel(), isSettled: try reader.bool("settled")
        )
    }
}

extension SessionsReasserted: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("held", list: held)
        writer.put("lost", list: lost)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(held: try reader.list("held", of: Held.self), lost: try reader.list("lost", of: Lost.self))
    }
}

extension SessionsReasserted.Held: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("session", session.rawValue)
        writer.put("mailbox", mailbox)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(session: try reader.session(), mailbox: try reader.int64("mailbox"))
    }
}

extension SessionsReasserted.Lost: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("session", session.rawValue)
        // No session is closed with success.
        writer.put("code", code ?? .success)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        let code = try reader.code("code")
        self.init(session: try reader.session(), code: code == .success ? nil : code)
    }
}

extension ReassertMembers: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put(channel)
        writer.put("members", list: members)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(channel: try reader.channelKey(), members: try reader.list("members", of: HeldMember.self))
    }
}

extension HeldMember: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        member.write(to: &writer)
        writer.put("session", session.rawValue)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(member: try Member(from: reader), session: try reader.session())
    }
}

extension MembersReasserted: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        for session in unknown { writer.put("unknown", session.rawValue) }
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        var unknown: [SessionID] = []
        for (name, value) in reader.pairs where name == "unknown" {
            unknown.append(SessionID(String(decoding: value, as: UTF8.self)))
        }
        self.init(unknown: unknown)
    }
}

extension ForgetMember: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        actor.write(to: &writer)
        writer.put("channel", channel.rawValue)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(actor: try Actor(from: reader), channel: try reader.channel())
    }
}
