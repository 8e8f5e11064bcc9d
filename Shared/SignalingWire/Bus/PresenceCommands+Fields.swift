package import SignalingProtocol

extension GetApp: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("app", app.rawValue)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(app: try AppID(try reader.string("app")))
    }
}

extension AppSettings: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("certificate", certificate)
        writer.put("required", tokenRequired)
        for limit in AppLimits.all { writer.put(limit.wire, limits[limit]) }
        writer.put("specialOpen", limits.specialChannelsOpen)
    }

    /// Reads the fields; a limit that an older process does not know is the default.
    package init(from reader: FieldReader) throws(SignalingError) {
        var limits = AppLimits()
        for limit in AppLimits.all where reader.optionalString(limit.wire) != nil {
            limits[limit] = try reader.int(limit.wire)
        }
        if reader.optionalString("specialOpen") != nil {
            limits.specialChannelsOpen = try reader.bool("specialOpen")
        }
        self.init(
            certificate: try reader.string("certificate"), tokenRequired: try reader.bool("required"), limits: limits)
    }
}

extension QueryUserStatus: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put(user)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(user: try reader.user())
    }
}

extension UserStatus: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("online", online)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(online: try reader.bool("online"))
    }
}

extension SetUserAttribute: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put(user)
        writer.put("session", session.rawValue)
        attribute.write(to: &writer)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(
            user: try reader.user(), session: try reader.session(), attribute: try Attribute(from: reader))
    }
}

extension GetUserAttribute: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put(user)
        writer.put("name", name.rawValue)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(user: try reader.user(), name: try AttributeName(try reader.string("name")))
    }
}

extension AttributeValue: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("value", value)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(value: try reader.string("value"))
    }
}

extension ListUserAttributes: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put(user)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(user: try reader.user())
    }
}

extension AttributeList: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("attributes", list: attributes)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(attributes: try reader.list("attributes", of: Attribute.self))
    }
}
