package import SignalingProtocol

extension GetAPIKey: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(id: try fields.field("key", \.id))
    }
}

extension APIKey: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            id: try fields.field("key", \.id),
            digest: try fields.field("digest", \.digest),
            app: try fields.optional("app", \.app),
            scopes: try fields.field("scopes", \.scopes),
            requestsPerSecond: try fields.field("rate", \.requestsPerSecond),
            expiry: try fields.optional("expiry", \.expiry))
    }
}

extension APIScopes: FieldValue {
    package func put(as name: String, in writer: inout FieldWriter) { writer.put(name, text) }
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        self.init(text: try reader.string(name))
    }
}
