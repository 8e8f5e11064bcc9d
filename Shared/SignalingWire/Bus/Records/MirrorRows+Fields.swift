package import SignalingProtocol

extension PresenceMirrorRow: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        let user = try fields.fields(of: \.user)
        let version = try fields.field("version", \.version)
        let present = try fields.field("present", \.present)
        let actor = Actor(
            user: user, uid: try fields.field("uid", \.uid), session: try fields.field("session", \.session))
        self.init(
            of: actor, version: version,
            gateway: try fields.field("gateway", \.gateway),
            device: try fields.field("device", \.device),
            since: try fields.field("since", \.since))
        self.present = present
        detached = try fields.field("detached", \.detached)
    }
}

extension MemberMirrorRow: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        let channel = try fields.fields(of: \.channel)
        let member = Member(
            account: try fields.field("account", \.account), uid: try fields.field("uid", \.uid))
        self.init(
            of: member, in: channel,
            version: try fields.field("version", \.version),
            present: try fields.field("present", \.present),
            joinedAt: try fields.field("joined", \.joinedAt))
    }
}
