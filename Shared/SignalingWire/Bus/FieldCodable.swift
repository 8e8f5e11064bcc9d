package import SignalingProtocol

/// A value that travels inside the cluster as named fields.
package protocol FieldCodable {
    /// Adds the value's fields.
    func write(to writer: inout FieldWriter)
    /// Reads the value back.
    /// - Throws: `SignalingError` when a field is missing or malformed.
    init(from reader: FieldReader) throws(SignalingError)
}

/// A command that can be put on a service's stream. The field names `op`, `id`, `from` and `ttl` belong to the envelope.
package protocol WireCommand: ServiceCommand, FieldCodable where Reply: FieldCodable {}

extension Done: FieldCodable {
    /// Writes nothing.
    package func write(to writer: inout FieldWriter) {}
    /// Reads nothing.
    package init(from reader: FieldReader) throws(SignalingError) { self.init() }
}

extension FieldWriter {
    mutating func put(_ user: UserKey) {
        put("app", user.app.rawValue)
        put("account", user.account.rawValue)
    }

    mutating func put(_ channel: ChannelKey) {
        put("app", channel.app.rawValue)
        put("channel", channel.name.rawValue)
    }

    /// Absent when nil: an optional name is never empty.
    mutating func put(optional name: String, _ value: String?) {
        if let value { put(name, value) }
    }

    mutating func put(_ name: String, _ code: SignalingCode) { put(name, code.rawValue) }
}

extension FieldReader {
    func user() throws(SignalingError) -> UserKey {
        UserKey(app: try AppID(try string("app")), account: try Account(try string("account")))
    }

    func channelKey() throws(SignalingError) -> ChannelKey {
        ChannelKey(app: try AppID(try string("app")), name: try channel())
    }

    func channel() throws(SignalingError) -> ChannelName { try ChannelName(try string("channel")) }

    func optionalChannel() throws(SignalingError) -> ChannelName? {
        guard let name = optionalString("channel") else { return nil }
        return try ChannelName(name)
    }

    func gateway() throws(SignalingError) -> GatewayID { GatewayID(try string("gateway")) }

    func session() throws(SignalingError) -> SessionID { SessionID(try string("session")) }

    func code(_ name: String) throws(SignalingError) -> SignalingCode {
        guard let code = SignalingCode(rawValue: try int(name)) else { throw Self.malformed(name, "signaling code") }
        return code
    }
}
