public import SignalingProtocol

extension OpenSession: WireCommand {
    /// Adds the fields.
    public func write(to writer: inout FieldWriter) {
        writer.put("gateway", gateway.rawValue)
        writer.put("line", line.wire)
        writer.put("device", device)
        writer.put("push", push)
        writer.put("expires", tokenExpiry)
    }

    /// Reads the fields.
    public init(from reader: FieldReader) throws(SignalingError) {
        self.init(
            gateway: try reader.gateway(), line: try Line(wire: try reader.string("line")),
            device: try reader.string("device"), push: try reader.bool("push"),
            tokenExpiry: try reader.int64("expires"))
    }
}

extension SessionOpened: FieldCodable {
    /// Adds the fields.
    public func write(to writer: inout FieldWriter) {
        writer.put("uid", uid)
    }

    /// Reads the fields.
    public init(from reader: FieldReader) throws(SignalingError) {
        self.init(uid: try reader.uint32("uid"))
    }
}

extension ResumeSession: WireCommand {
    /// Adds the fields.
    public func write(to writer: inout FieldWriter) {
        writer.put("gateway", gateway.rawValue)
        writer.put("line", line.wire)
    }

    /// Reads the fields.
    public init(from reader: FieldReader) throws(SignalingError) {
        self.init(gateway: try reader.gateway(), line: try Line(wire: try reader.string("line")))
    }
}

extension SessionResumed: FieldCodable {
    /// Adds the fields.
    public func write(to writer: inout FieldWriter) {
        writer.put("uid", uid)
        writer.put(optional: "channel", channel?.rawValue)
        writer.put("push", push)
        writer.put("expires", tokenExpiry)
    }

    /// Reads the fields.
    public init(from reader: FieldReader) throws(SignalingError) {
        self.init(
            uid: try reader.uint32("uid"), channel: try reader.optionalChannel(), push: try reader.bool("push"),
            tokenExpiry: try reader.int64("expires"))
    }
}

extension DetachSession: WireCommand {
    /// Adds the fields.
    public func write(to writer: inout FieldWriter) {
        writer.put("gateway", gateway.rawValue)
        writer.put(user)
        writer.put("session", session.rawValue)
    }

    /// Reads the fields.
    public init(from reader: FieldReader) throws(SignalingError) {
        self.init(gateway: try reader.gateway(), user: try reader.user(), session: try reader.session())
    }
}

extension CloseSession: WireCommand {
    /// Adds the fields.
    public func write(to writer: inout FieldWriter) {
        writer.put(user)
        writer.put("session", session.rawValue)
        writer.put("reason", reason)
    }

    /// Reads the fields.
    public init(from reader: FieldReader) throws(SignalingError) {
        self.init(user: try reader.user(), session: try reader.session(), reason: try reader.code("reason"))
    }
}

extension ReassertSessions: WireCommand {
    /// Adds the fields.
    public func write(to writer: inout FieldWriter) {
        writer.put("gateway", gateway.rawValue)
        writer.put("sessions", list: sessions)
    }

    /// Reads the fields.
    public init(from reader: FieldReader) throws(SignalingError) {
        self.init(gateway: try reader.gateway(), sessions: try reader.list("sessions", of: HeldSession.self))
    }
}

extension HeldSession: FieldCodable {
    /// Adds the fields.
    public func write(to writer: inout FieldWriter) {
        writer.put("line", line.wire)
        writer.put("uid", uid)
        writer.put("device", device)
        writer.put("push", push)
        writer.put(optional: "channel", channel?.rawValue)
        writer.put("expires", tokenExpiry)
    }

    /// Reads the fields.
    public init(from reader: FieldReader) throws(SignalingError) {
        self.init(
            line: try Line(wire: try reader.string("line")), uid: try reader.uint32("uid"),
            device: try reader.string("device"), push: try reader.bool("push"), channel: try reader.optionalChannel(),
            tokenExpiry: try reader.int64("expires"))
    }
}

extension SessionsReasserted: FieldCodable {
    /// Adds the fields.
    public func write(to writer: inout FieldWriter) {
        for session in lost { writer.put("lost", session.rawValue) }
    }

    /// Reads the fields.
    public init(from reader: FieldReader) throws(SignalingError) {
        var lost: [SessionID] = []
        for (name, value) in reader.pairs where name == "lost" {
            lost.append(SessionID(String(decoding: value, as: UTF8.self)))
        }
        self.init(lost: lost)
    }
}
