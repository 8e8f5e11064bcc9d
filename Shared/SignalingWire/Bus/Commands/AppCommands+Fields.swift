package import SignalingProtocol

extension GetApp: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(app: try fields.field("app", \.app))
    }
}

extension AppSettings: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            certificate: try fields.field("certificate", \.certificate),
            tokenRequired: try fields.field("required", \.tokenRequired),
            limits: try fields.fields(of: \.limits), hook: try fields.optionalFields(of: \.hook, with: "hook"))
    }
}

extension AppLimits: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init()
        for limit in AppLimits.all {
            self[limit] = try fields.field(limit.wire, limit.property, standard: limit.standard)
        }
        specialChannelsOpen = try fields.field("specialOpen", \.specialChannelsOpen, standard: specialChannelsOpen)
    }
}
