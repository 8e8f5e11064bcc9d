package import SignalingProtocol

extension OpenSession: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("gateway", gateway.rawValue)
        writer.put("line", line.wire)
        writer.put("device", device)
        writer.put("push", push)
        writer.put("expires", tokenExpiry)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(
            gateway: try reader.gateway(), line: try Line(wire: try reader.string("line")),
            device: try reader.string("device"), push: try reader.bool("push"),
            tokenExpiry: try reader.int64("expires"))
    }
}

extension SessionOpened: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("uid", uid)
        hold.write(to: &writer)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(uid: try reader.uint32("uid"), hold: try SessionHold(from: reader))
    }
}

extension SessionHold: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("since", since)
        writer.put("claim", claim)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(since: try reader.int64("since"), claim: try reader.int64("claim"))
    }
}

extension ResumeSession: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("gateway", gateway.rawValue)
        writer.put("line", line.wire)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(gateway: try reader.gateway(), line: try Line(wire: try reader.string("line")))
    }
}

extension SessionResumed: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("uid", uid)
        writer.put(optional: "channel", channel?.rawValue)
        writer.put("push", push)
        writer.put("expires", tokenExpiry)
        hold.write(to: &writer)
        writer.put("turn", turn)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(
            uid: try reader.uint32("uid"), channel: try reader.optionalChannel(), push: try reader.bool("push"),
            tokenExpiry: try reader.int64("expires"), hold: try SessionHold(from: reader),
            turn: try reader.int64("turn"))
    }
}

extension DetachSession: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("gateway", gateway.rawValue)
        writer.put(user)
        writer.put("session", session.rawValue)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(gateway: try reader.gateway(), user: try reader.user(), session: try reader.session())
    }
}

extension CloseSession: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put(user)
        writer.put("session", session.rawValue)
        writer.put("reason", reason)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(user: try reader.user(), session: try reader.session(), reason: try reader.code("reason"))
    }
}

extension DisconnectUser: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) { writer.put(user) }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) { self.init(user: try reader.user()) }
}
