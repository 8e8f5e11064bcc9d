package import SignalingProtocol

extension MirrorCause: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(try fields.field("cause", \.kind), reason: try fields.field("reason", \.reason))
        createsChannel = try fields.optional("creates", \.createsChannel)
    }

    /// Webhooks cannot tell what this release has no name for; the copies in PostgreSQL do not need it.
    package static func isUnknown(in reader: FieldReader) -> Bool { WebhookKind.isUnknown("cause", in: reader) }
}

extension WebhookKind: FieldValue {}

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
        cause = try fields.optionalFields(of: \.cause, with: "cause")
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
        cause = try fields.optionalFields(of: \.cause, with: "cause")
    }
}

extension ChannelEndRow: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(try fields.fields(of: \.channel), ended: try fields.field("ended", \.ended))
    }
}

extension ChannelMirrorRow: FieldCodable {
    package func write(to writer: inout FieldWriter) {
        switch self {
        case .member(let row): row.write(to: &writer)
        case .end(let row): row.write(to: &writer)
        }
    }

    /// Reads a row; only an end has the field `ended`.
    package init(from reader: FieldReader) throws(SignalingError) {
        self =
            reader.optionalString("ended") == nil
            ? .member(try MemberMirrorRow(from: reader)) : .end(try ChannelEndRow(from: reader))
    }
}
