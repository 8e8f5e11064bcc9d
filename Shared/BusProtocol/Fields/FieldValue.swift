package import SignalingProtocol

/// A type that can be the value of one field.
package protocol FieldValue {
    /// Writes the field.
    func put(as name: String, in writer: inout FieldWriter)
    /// Reads the field.
    /// - Throws: `SignalingError` when it is missing or of another form.
    init(_ name: String, from reader: FieldReader) throws(SignalingError)
    /// Whether the field is there with a value of the right form that only a newer release knows; false where every
    /// value of that form is known (the default). An optional field is then read as nil.
    static func isUnknown(_ name: String, in reader: FieldReader) -> Bool
}

extension FieldValue {
    package static func isUnknown(_ name: String, in reader: FieldReader) -> Bool { false }
}

extension String: FieldValue {
    package func put(as name: String, in writer: inout FieldWriter) { writer.put(name, self) }
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) { self = try reader.string(name) }
}

extension Int64: FieldValue {
    package func put(as name: String, in writer: inout FieldWriter) { writer.put(name, self) }
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) { self = try reader.int64(name) }
}

extension Int: FieldValue {
    package func put(as name: String, in writer: inout FieldWriter) { writer.put(name, self) }
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) { self = try reader.int(name) }
}

extension UInt32: FieldValue {
    package func put(as name: String, in writer: inout FieldWriter) { writer.put(name, self) }
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) { self = try reader.uint32(name) }
}

extension Bool: FieldValue {
    package func put(as name: String, in writer: inout FieldWriter) { writer.put(name, self) }
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) { self = try reader.bool(name) }
    /// A flag may get a third word.
    package static func isUnknown(_ name: String, in reader: FieldReader) -> Bool {
        reader.optionalString(name).map { $0 != "0" && $0 != "1" } ?? false
    }
}

extension RedisTime: FieldValue {
    /// Adds the milliseconds.
    package func put(as name: String, in writer: inout FieldWriter) { writer.put(name, milliseconds) }
    /// Reads the milliseconds.
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        self.init(milliseconds: try reader.int64(name))
    }
}

extension SignalingCode: FieldValue {
    package func put(as name: String, in writer: inout FieldWriter) { writer.put(name, rawValue) }
    /// Reads the number of a code; one that this release does not know is ``SignalingCode/unknown``, as in events: why
    /// a session or a call ends does not decide whether it does.
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        self = Self(rawValue: try reader.int(name)) ?? .unknown
    }
}

extension LatestMembers: FieldValue {
    package func put(as name: String, in writer: inout FieldWriter) { writer.put(name, text) }
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        self.init(text: try reader.text(name))
    }
}

extension EmptyMailbox: FieldValue {
    package func put(as name: String, in writer: inout FieldWriter) { writer.put(name, "\(cleared) \(highest)") }
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        let numbers = try reader.string(name).split(separator: " ", omittingEmptySubsequences: false).map { Int64($0) }
        guard numbers.count == 2, let mailbox = Self(cleared: numbers[0], highest: numbers[1]) else {
            throw FieldReader.malformed(name, "pair of numbers")
        }
        self = mailbox
    }
}

extension Line: FieldValue {
    /// Writes the line as clients have it.
    package func put(as name: String, in writer: inout FieldWriter) { writer.put(name, wire) }
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        try self.init(wire: reader.string(name))
    }
}

extension FieldValue where Self: ByteIdentifier {
    package func put(as name: String, in writer: inout FieldWriter) { writer.put(name, rawValue) }
}

extension AppID: FieldValue {
    /// Reads and validates an app id.
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        try self.init(reader.string(name))
    }
}

extension Account: FieldValue {
    /// Reads and validates an account.
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        try self.init(reader.string(name))
    }
}

extension ChannelName: FieldValue {
    /// Reads and validates a name.
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        try self.init(reader.string(name))
    }
}

extension AttributeName: FieldValue {
    /// Reads and validates a name.
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        try self.init(reader.string(name))
    }
}

extension SessionID: FieldValue {
    /// Reads an id that one of our processes made; it is not validated.
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        self.init(try reader.string(name))
    }
}

extension BridgeID: FieldValue {
    /// Reads an id that one of our processes made; it is not validated.
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        self.init(try reader.string(name))
    }
}

extension GatewayID: FieldValue {
    /// Reads an id that one of our processes made; it is not validated.
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        self.init(try reader.string(name))
    }
}

extension FieldValue where Self: RawRepresentable<String> & CaseIterable {
    package func put(as name: String, in writer: inout FieldWriter) { writer.put(name, rawValue) }
    /// Reads one of the enumeration's words; one that this release does not know is an error.
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        guard let value = Self(rawValue: try reader.string(name)) else {
            throw FieldReader.malformed(name, "\(Self.self)")
        }
        self = value
    }

    package static func isUnknown(_ name: String, in reader: FieldReader) -> Bool {
        reader.optionalString(name).map { Self(rawValue: $0) == nil } ?? false
    }
}

extension CallVerb: FieldValue {}
