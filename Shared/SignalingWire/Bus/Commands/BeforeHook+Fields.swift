package import SignalingProtocol

extension HookPoints: FieldValue {
    package func put(as name: String, in writer: inout FieldWriter) { writer.put(name, text) }
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        self.init(text: try reader.string(name))
    }
}

extension WebhookURL: FieldValue {
    package func put(as name: String, in writer: inout FieldWriter) { writer.put(name, text) }
    /// Reads and validates a URL.
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        guard let url = WebhookURL(try reader.string(name)) else { throw FieldReader.malformed(name, "URL") }
        self = url
    }
}

extension BeforeHook: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            url: try fields.field("hook", \.url), secret: try fields.field("hookSecret", \.secret),
            points: try fields.field("hookPoints", \.points))
        deadline = try fields.field("hookDeadline", \.deadline)
        failsOpen = try fields.field("hookOpen", \.failsOpen)
        requests = try fields.field("hookRequests", \.requests)
        allowsPrivate = try fields.field("hookPrivate", \.allowsPrivate)
        allowsLoopback = try fields.field("hookLoopback", \.allowsLoopback, standard: false)
        refusesBusy = try fields.field("hookBusy", \.refusesBusy, standard: false)
    }
}

extension BeforeHook {
    fileprivate var allowsPrivate: Bool {
        get { allowed.contains(.privateOnes) }
        set { allow(.privateOnes, newValue) }
    }

    fileprivate var allowsLoopback: Bool {
        get { allowed.contains(.loopback) }
        set { allow(.loopback, newValue) }
    }

    private mutating func allow(_ networks: AllowedNetworks, _ isAllowed: Bool) {
        if isAllowed { allowed.insert(networks) } else { allowed.remove(networks) }
    }
}
