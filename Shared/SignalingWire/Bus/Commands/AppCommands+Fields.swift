package import SignalingProtocol

extension GetApp: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(app: try fields.field("app", \.app))
    }
}

extension AppSettings: FieldCodable {
    package func write(to writer: inout FieldWriter) {
        writer.put("certificate", certificate)
        writer.put("required", tokenRequired)
        for limit in AppLimits.all { writer.put(limit.wire, limits[limit]) }
        writer.put("specialOpen", limits.specialChannelsOpen)
    }

    /// A limit that an older process did not write gets its default.
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
