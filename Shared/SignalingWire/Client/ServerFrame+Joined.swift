internal import SignalingProtocol

/// The answer to a join: the longest frame that is sent often.
extension ServerFrame {
    static func joined(id: String, joinID: Int64, members: MemberListText, attributes: [Attribute]) -> [UInt8] {
        var bytes = start(ofCallReturn: id, content: members.bytes.count + expectedBytes(attributes))
        JSONText.append(verbatim: #"","{\"result\":\"ok\",\"list\":["#, to: &bytes)
        bytes.append(contentsOf: members.bytes)
        JSONText.append(verbatim: #"],\"attrs\":{"#, to: &bytes)
        append(attributes, quote: #"\""#, .twice, to: &bytes)
        JSONText.append(verbatim: #"},\"id\":"#, to: &bytes)
        DecimalText.append(joinID, to: &bytes)
        JSONText.append(verbatim: #"}"]]"#, to: &bytes)
        return bytes
    }
}
