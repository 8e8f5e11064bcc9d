internal import SignalingProtocol

/// The answer to a join: the longest frame that is sent often. Its up to two hundred members are written straight
/// from the bytes that Redis keeps.
extension ServerFrame {
    static func joined(id: String, joinID: Int64, members: LatestMembers, attributes: [Attribute]) -> [UInt8] {
        var bytes = start(ofCallReturn: id, content: 2 * members.text.count + expectedBytes(attributes))
        JSONText.append(verbatim: #"","{\"result\":\"ok\",\"list\":["#, to: &bytes)
        appendList(members, to: &bytes)
        JSONText.append(verbatim: #"],\"attrs\":{"#, to: &bytes)
        append(attributes, quote: #"\""#, .twice, to: &bytes)
        JSONText.append(verbatim: #"},\"id\":"#, to: &bytes)
        DecimalText.append(joinID, to: &bytes)
        JSONText.append(verbatim: #"}"]]"#, to: &bytes)
        return bytes
    }

    /// Appends the members as `[\"ACCOUNT\",UID]`, separated by commas: the content of a
    /// JSON array inside a JSON string.
    private static func appendList(_ members: LatestMembers, to bytes: inout [UInt8]) {
        var separates = false
        members.forEach { uid, account in
            if separates { bytes.append(UInt8(ascii: ",")) }
            separates = true
            JSONText.append(verbatim: #"[\""#, to: &bytes)
            JSONText.appendEscaped(account, .twice, to: &bytes)
            JSONText.append(verbatim: #"\","#, to: &bytes)
            bytes.append(contentsOf: uid)
            bytes.append(UInt8(ascii: "]"))
        }
    }
}
