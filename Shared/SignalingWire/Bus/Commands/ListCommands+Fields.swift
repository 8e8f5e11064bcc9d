package import SignalingProtocol

extension ListRecords: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            try fields.field("list", \.list),
            app: try fields.optional("app", \.app),
            channel: try fields.optional("channel", \.channel),
            prefix: try fields.field("prefix", \.prefix),
            after: try fields.field("after", \.after),
            limit: try fields.field("limit", \.limit))
    }
}

extension ListRecords.List: FieldValue {}

extension RecordPage: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(records: try fields.field("records", \.records), next: try fields.optional("next", \.next))
    }
}
