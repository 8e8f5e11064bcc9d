internal import SignalingProtocol

/// Attributes may have a million bytes: they are escaped straight into the frame, without a copy in between.
extension ServerFrame {
    /// The answer to `user_get_attr_all`. Its attributes are a JSON text inside a JSON text inside the frame's JSON.
    static func attributes(id: String, of account: Account, _ attributes: [Attribute]) -> [UInt8] {
        var bytes = start(ofCallReturn: id, content: account.rawValue.utf8.count + expectedBytes(attributes))
        JSONText.append(verbatim: #"","{\"result\":\"ok\",\"account\":\""#, to: &bytes)
        JSONText.appendEscaped(account.rawValue, .twice, to: &bytes)
        JSONText.append(verbatim: #"\",\"json\":\"{"#, to: &bytes)
        append(attributes, quote: #"\\\""#, .thrice, to: &bytes)
        JSONText.append(verbatim: #"}\"}"]]"#, to: &bytes)
        return bytes
    }

    /// Appends the members of a JSON object.
    /// - Parameter quote: how a quotation mark is escaped at this depth.
    static func append(
        _ attributes: [Attribute], quote: StaticString, _ depth: JSONText.Depth, to bytes: inout [UInt8]
    ) {
        var separates = false
        for attribute in attributes {
            if separates { bytes.append(UInt8(ascii: ",")) }
            separates = true
            JSONText.append(verbatim: quote, to: &bytes)
            JSONText.appendEscaped(attribute.name.rawValue, depth, to: &bytes)
            JSONText.append(verbatim: quote, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            JSONText.append(verbatim: quote, to: &bytes)
            JSONText.appendEscaped(attribute.value, depth, to: &bytes)
            JSONText.append(verbatim: quote, to: &bytes)
        }
    }

    /// An estimate of the bytes that the attributes take in a frame, for reserving room.
    static func expectedBytes(_ attributes: [Attribute]) -> Int {
        attributes.reduce(64) { $0 + ($1.name.rawValue.utf8.count + $1.value.utf8.count) * 9 / 8 + 24 }
    }
}
