package import SignalingProtocol

extension Actor: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put(user)
        writer.put("uid", uid)
        writer.put("session", session.rawValue)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(user: try reader.user(), uid: try reader.uint32("uid"), session: try reader.session())
    }
}

extension Member: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("account", account.rawValue)
        writer.put("uid", uid)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(account: try Account(try reader.string("account")), uid: try reader.uint32("uid"))
    }
}

extension Attribute: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("name", name.rawValue)
        writer.put("value", value)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(name: try AttributeName(try reader.string("name")), value: try reader.string("value"))
    }
}

extension AttributeChange: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        switch self {
        case .update(let attribute):
            writer.put("change", "update")
            attribute.write(to: &writer)
        case .delete(let name):
            writer.put("change", "del")
            writer.put("name", name.rawValue)
        case .clear:
            writer.put("change", "clear")
        }
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        switch try reader.string("change") {
        case "update": self = .update(try Attribute(from: reader))
        case "del": self = .delete(try AttributeName(try reader.string("name")))
        case "clear": self = .clear
        default: throw FieldReader.malformed("change", "change of attributes")
        }
    }
}
